/** An answered approval: who decided what, and with which words. */
import { useWords } from '../context';
import { Icon } from '../parts/Icon';
import type { ApprovalState } from '../../protocol/types';
import type { Translate } from '../words/time';

export function ApprovalRecord({ approval }: { approval: ApprovalState }) {
  const { t } = useWords();
  const allowed = approval.decision === 'approve';
  return (
    <p className="vitto-row-record" title={approval.title}>
      <Icon name={allowed ? 'check' : 'close'} />
      <span>
        {recordWords(t, approval)}
        {approval.comment && <q className="vitto-comment">{approval.comment}</q>}
      </span>
    </p>
  );
}

function recordWords(t: Translate, { decision, by, comment }: ApprovalState): string {
  if (by === 'system') {
    return comment ? t('The question lapsed: ') : t('The question lapsed without an answer');
  }
  if (decision === 'approve') {
    return comment ? t('You allowed this: ') : t('You allowed this');
  }
  return comment ? t('You rejected this: ') : t('You rejected this');
}
