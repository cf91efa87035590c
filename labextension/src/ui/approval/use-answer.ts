/** Sends the answer to an approval, once, with the digest of what was shown. */
import { useRef, type RefObject } from 'react';

import { useUi } from '../context';
import type { DecisionKind } from '../../model/session-view';
import type { ApprovalState } from '../../protocol/types';

export function useAnswer(
  approval: ApprovalState,
  card: RefObject<HTMLElement | null>
): (decision: DecisionKind, comment: string) => void {
  const { store, focus } = useUi();
  // a ref, not state: the second click of a double click comes before the next render
  const sent = useRef(false);
  return (decision, comment) => {
    if (sent.current) {
      return;
    }
    sent.current = true;
    const hadFocus = card.current?.contains(document.activeElement) ?? false;
    const { approval_id, digest } = approval;
    void store.decide(approval_id, { decision, comment, digest }).then(taken => {
      sent.current = taken;
      if (taken && hadFocus && isFocusLost(card.current)) {
        focus.composer();
      }
    });
  };
}

/** The card is gone or going: keyboard users must not fall back to the top of the page. */
function isFocusLost(card: HTMLElement | null): boolean {
  const active = document.activeElement;
  return active === null || active === document.body || (card?.contains(active) ?? false);
}
