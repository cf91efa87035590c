/** A phrase made of words and of things that can be clicked or are set as code. Pure. */
import type { Target } from '../host';
import type { Translate } from './time';

export type Part =
  | string
  | { readonly kind: 'place'; readonly text: string; readonly target: Target }
  | { readonly kind: 'code'; readonly text: string };

export type Parts = readonly Part[];

/** Private-use characters that no translation contains; they mark where a part goes. */
const FIRST_MARK = 0xe000;

/** Translate `text` with parts in the places of %1, %2, … */
export function phrase(t: Translate, text: string, ...parts: readonly Parts[]): Parts {
  const marks = parts.map((_, index) => String.fromCharCode(FIRST_MARK + index));
  const pieces = t(text, ...marks).split(/([\ue000-\ue0ff])/);
  return pieces.flatMap(piece => {
    const part = parts[piece.charCodeAt(0) - FIRST_MARK];
    return piece.length === 1 && part ? part : piece ? [piece] : [];
  });
}

export function plain(parts: Parts): string {
  return parts.map(part => (typeof part === 'string' ? part : part.text)).join('');
}
