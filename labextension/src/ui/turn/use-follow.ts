/** Keeps the end in view while the reader is at the end, and only then. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from 'react';

/** How far from the end still counts as the end, in pixels. */
const NEAR_PX = 32;

interface Follow {
  readonly scroller: RefObject<HTMLDivElement>;
  readonly content: RefObject<HTMLDivElement>;
  readonly atEnd: boolean;
  readonly jump: () => void;
}

/**
 * A new `session` or `sent` prompt goes to the end, wherever the reader was. What stands there
 * while there `isNone`, no turn, is read from its begin.
 */
export function useFollow(session: string, sent: string, isNone: boolean): Follow {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const nothing = useRef(isNone);
  nothing.current = isNone;
  const [atEnd, setAtEnd] = useState(true);
  const jump = useCallback(() => {
    following.current = true;
    setAtEnd(true);
    if (scroller.current && !nothing.current) {
      toEnd(scroller.current);
    }
  }, []);
  useLayoutEffect(jump, [jump, session, sent]);
  useEffect(() => {
    const box = scroller.current;
    const inner = content.current;
    if (!box || !inner) {
      return undefined;
    }
    let lastTop = box.scrollTop;
    const onScroll = (): void => {
      const near = box.scrollHeight - box.scrollTop - box.clientHeight <= NEAR_PX;
      // content that grew moves the end away without the reader having scrolled up
      following.current = near || (following.current && box.scrollTop >= lastTop);
      lastTop = box.scrollTop;
      setAtEnd(following.current);
    };
    const sizes = new ResizeObserver(() => following.current && !nothing.current && toEnd(box));
    sizes.observe(inner);
    sizes.observe(box);
    box.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      sizes.disconnect();
      box.removeEventListener('scroll', onScroll);
    };
  }, []);
  return { scroller, content, atEnd, jump };
}

function toEnd(box: HTMLElement): void {
  box.scrollTop = box.scrollHeight;
}
