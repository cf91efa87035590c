/** The question that waits for the user, pinned above the composer. */
import { useSession, useWords } from '../context';
import { waitingCalls } from '../../model/session-view';
import { ApprovalCard } from './ApprovalCard';

export function ApprovalDock() {
  const { t } = useWords();
  const session = useSession();
  const waiting = session ? waitingCalls(session.transcript) : [];
  const approval = waiting[0]?.approval;
  if (!session || !approval) {
    return null;
  }
  return (
    <ApprovalCard
      key={approval.approval_id}
      approval={approval}
      deciding={session.deciding[approval.approval_id] ?? null}
      more={waiting.length > 1 ? t('1 of %1', waiting.length) : ''}
    />
  );
}
