/**
 * Cuts streamed markdown into blocks that can be drawn one by one. Pure.
 *
 * A finished block never changes when more text comes, so it is drawn once; only the open
 * block at the end is drawn again. Code fences, display math, lists and HTML containers stay
 * whole, blank lines in them included. However the text is chunked, the blocks are the same.
 */

export interface Split {
  /** Blocks that are complete, in order, without the blank lines between them. */
  readonly finished: readonly string[];
  /** Where the open block begins in the text. */
  readonly openStart: number;
}

export const EMPTY_SPLIT: Split = { finished: [], openStart: 0 };

/**
 * Split `text`, going on from `before` (the split of a prefix of `text`).
 *
 * Args:
 *     text: All text so far, "\n" line ends.
 *     before: The result for a shorter prefix, or EMPTY_SPLIT.
 */
export function splitBlocks(text: string, before: Split = EMPTY_SPLIT): Split {
  let finished: string[] | null = null;
  let openStart = before.openStart;
  for (;;) {
    const end = blockEnd(text, openStart);
    if (end === null) {
      return finished ? { finished: [...before.finished, ...finished], openStart } : before;
    }
    finished ??= [];
    const block = trimBlankLines(text.slice(openStart, end));
    if (block) {
      finished.push(block);
    }
    openStart = end;
  }
}

/** All blocks of a text that is complete. */
export function allBlocks(text: string, split: Split = splitBlocks(text)): readonly string[] {
  const open = trimBlankLines(text.slice(split.openStart));
  return open ? [...split.finished, open] : split.finished;
}

function trimBlankLines(block: string): string {
  return block.replace(/^(?:[ \t]*\n)+/, '').trimEnd();
}

const FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(`{3,}|~{3,})(.*)$/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const MAYBE_LIST_ITEM = /^ {0,3}(?:[-*+]|\d{0,9}[.)]?)?$/;
const HTML_CONTAINER = /^<(details|div|table|section|p|center)\b/i;

/** The text being scanned within one block. */
type Inside =
  | { readonly kind: 'start' | 'text' | 'list' }
  | { readonly kind: 'fence'; readonly marker: string; readonly list: boolean }
  | { readonly kind: 'math'; readonly end: string; readonly list: boolean }
  | { readonly kind: 'html'; readonly end: string };

/**
 * Where the block that begins at `start` is known to end; null while more text can decide.
 */
function blockEnd(text: string, start: number): number | null {
  let inside: Inside = { kind: 'start' };
  let afterBlank = false;
  for (let at = start; at < text.length; ) {
    const newline = text.indexOf('\n', at);
    const line = text.slice(at, newline < 0 ? text.length : newline);
    if (inside.kind === 'list' && afterBlank && line.trim()) {
      const goesOn = continuesList(line, newline >= 0);
      if (goesOn !== 'yes') {
        return goesOn === 'no' ? at : null;
      }
    }
    if (newline < 0) {
      return null;
    }
    const next = advance(inside, line);
    if (next === 'end') {
      return newline + 1;
    }
    afterBlank = line.trim() === '';
    inside = next;
    at = newline + 1;
  }
  return null;
}

/** The state after a complete line, or "end" when the line ends the block. */
function advance(inside: Inside, line: string): Inside | 'end' {
  switch (inside.kind) {
    case 'fence':
      return closesFence(line, inside.marker) ? leave(inside.list) : inside;
    case 'math':
      return line.trim().endsWith(inside.end) ? leave(inside.list) : inside;
    case 'html':
      return line.toLowerCase().includes(inside.end) ? 'end' : inside;
    case 'text':
    case 'list':
    case 'start':
      return advanceText(inside.kind, line);
  }
}

function leave(list: boolean): Inside | 'end' {
  return list ? { kind: 'list' } : 'end';
}

function advanceText(kind: 'start' | 'text' | 'list', line: string): Inside | 'end' {
  const trimmed = line.trim();
  if (!trimmed) {
    return kind === 'text' ? 'end' : { kind };
  }
  const list = kind === 'list' || LIST_ITEM.test(line);
  const fence = FENCE.exec(line);
  if (fence?.[1] && !(fence[1].startsWith('`') && fence[2]?.includes('`'))) {
    return { kind: 'fence', marker: fence[1], list };
  }
  const mathEnd = opensMath(trimmed);
  if (mathEnd) {
    return { kind: 'math', end: mathEnd, list };
  }
  const container = kind === 'start' ? HTML_CONTAINER.exec(line)?.[1] : undefined;
  if (container) {
    const end = `</${container.toLowerCase()}>`;
    return line.toLowerCase().includes(end) ? { kind: 'text' } : { kind: 'html', end };
  }
  return { kind: list ? 'list' : 'text' };
}

function closesFence(line: string, marker: string): boolean {
  const trimmed = line.trim();
  const mark = marker.charAt(0);
  return trimmed.length >= marker.length && [...trimmed].every(char => char === mark);
}

function opensMath(trimmed: string): string | null {
  if (trimmed.startsWith('$$')) {
    return trimmed.length > 2 && trimmed.indexOf('$$', 2) >= 0 ? null : '$$';
  }
  return trimmed.startsWith('\\[') && !trimmed.includes('\\]') ? '\\]' : null;
}

/** Whether a line after a blank line still belongs to the list above it. */
function continuesList(line: string, complete: boolean): 'yes' | 'no' | 'unknown' {
  if (/^(?: {2,}|\t)/.test(line) || LIST_ITEM.test(complete ? line : `${line}x`)) {
    return 'yes';
  }
  return !complete && MAYBE_LIST_ITEM.test(line) ? 'unknown' : 'no';
}
