/** Sends the answer to an approval, once, with the digest of what was shown. */
import type { RefObject } from 'react';

import { useUi } from '../context';
import { useOnce } from '../parts/use-once';
import type { DecisionKind } from '../../model/session-view';
import type { ApprovalState } from '../../protocol/types';

export function useAnswer(
  { approval_id, digest }: ApprovalState,
  card: RefObject<HTMLElement | null>
): (decision: DecisionKind, comment: string) => void {
  const { store } = useUi();
  const once = useOnce(card);
  return (decision, comment) =>
    once(() => store.decide(approval_id, { decision, comment, digest }));
}
