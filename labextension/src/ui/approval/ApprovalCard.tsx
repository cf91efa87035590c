/**
 * One question: what will happen, why it is asked, and the answer. It takes no focus by
 * itself; within it Ctrl/Cmd+Enter allows and Escape goes to Reject.
 */
import { useId, useRef, useState, type KeyboardEvent } from 'react';

import { useWords } from '../context';
import { Icon } from '../parts/Icon';
import type { DecisionKind } from '../../model/session-view';
import type { ApprovalState } from '../../protocol/types';
import { PreviewView } from './PreviewView';
import { useAnswer } from './use-answer';

interface Props {
  readonly approval: ApprovalState;
  /** The answer that is on its way. */
  readonly deciding: DecisionKind | null;
  /** "1 of 2" when others wait behind it. */
  readonly more: string;
}

export function ApprovalCard({ approval, deciding, more }: Props) {
  const { t } = useWords();
  const titleId = useId();
  const card = useRef<HTMLElement>(null);
  const reject = useRef<HTMLButtonElement>(null);
  const [comment, setComment] = useState('');
  const answer = useAnswer(approval, card);
  const instead = comment.trim();
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') {
      event.preventDefault();
      reject.current?.focus();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      // words for Vitto mean "not like this": sending them must never allow
      answer(instead ? 'reject' : 'approve', instead);
    }
  };
  return (
    <section ref={card} className="vitto-approval" aria-labelledby={titleId} onKeyDown={onKeyDown}>
      <header className="vitto-approval-head">
        <Icon name="waiting" />
        <h3 id={titleId}>{approval.title}</h3>
        {more && <span className="vitto-quiet">{more}</span>}
      </header>
      {approval.reason && <p className="vitto-approval-reason">{approval.reason}</p>}
      <div className="vitto-approval-preview">
        <PreviewView preview={approval.preview} />
      </div>
      <div className="vitto-approval-answer">
        <button
          type="button"
          className="vitto-button vitto-primary"
          disabled={deciding !== null}
          title={t('Allow (Ctrl+Enter)')}
          onClick={() => answer('approve', '')}
        >
          {deciding === 'approve' ? t('Allowing…') : t('Allow')}
        </button>
        <button
          ref={reject}
          type="button"
          className="vitto-button"
          disabled={deciding !== null}
          onClick={() => answer('reject', instead)}
        >
          {rejectLabel(t, deciding, instead)}
        </button>
        <input
          className="vitto-input"
          value={comment}
          aria-label={t('Tell Vitto what to do instead')}
          placeholder={t('Tell Vitto what to do instead')}
          onChange={event => setComment(event.target.value)}
          onKeyDown={event => {
            const plainEnter = event.key === 'Enter' && !event.ctrlKey && !event.metaKey;
            if (plainEnter && instead && !event.nativeEvent.isComposing) {
              answer('reject', instead);
            }
          }}
        />
      </div>
    </section>
  );
}

function rejectLabel(
  t: (text: string) => string,
  deciding: DecisionKind | null,
  instead: string
): string {
  if (deciding === 'reject') {
    return t('Rejecting…');
  }
  return instead ? t('Reject and say this') : t('Reject');
}
