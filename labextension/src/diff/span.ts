/** The smallest span that differs between two texts. Pure. */

export interface Span {
  /** Half-open, in UTF-16 units of `before`. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Replacing `span` in `before` gives `after`; null when they are the same. */
export function changedSpan(before: string, after: string): Span | null {
  if (before === after) {
    return null;
  }
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) {
    head++;
  }
  head -= splitsPair(before, head) || splitsPair(after, head) ? 1 : 0;
  let tail = 0;
  while (
    tail < shorter - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail++;
  }
  const cut = before.length - tail;
  tail -= splitsPair(before, cut) || splitsPair(after, after.length - tail) ? 1 : 0;
  return {
    start: head,
    end: before.length - tail,
    text: after.slice(head, after.length - tail)
  };
}

/** A cut between the halves of a character would break it for a moment. */
function splitsPair(text: string, at: number): boolean {
  const [high, low] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}
