/** An answer goes out once; the focus of a card that goes is not lost. */
import { useRef, type RefObject } from 'react';

import { useUi } from '../context';

/** `send` resolves to whether the answer was taken; until then further ones are ignored. */
export function useOnce(
  card: RefObject<HTMLElement | null>
): (send: () => Promise<boolean>) => void {
  const { focus } = useUi();
  // a ref, not state: the second click of a double click comes before the next render
  const sent = useRef(false);
  return send => {
    if (sent.current) {
      return;
    }
    sent.current = true;
    const hadFocus = card.current?.contains(document.activeElement) ?? false;
    void send().then(taken => {
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
