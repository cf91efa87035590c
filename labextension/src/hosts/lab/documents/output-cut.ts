/**
 * Bounds what the server gets of a notebook's outputs. Pure; the twin of
 * workspace/output_cut.py, both held to tests/golden/output_cut.json. A character is a UTF-16
 * unit here; no pair of them is ever split.
 */
import type { JsonValue } from '../../../protocol/types';

export type Json = { readonly [key: string]: JsonValue };

/** A text longer than `over_chars` keeps `keep_chars` at each end, `error_lines` between. */
interface Cut {
  readonly over_chars: number;
  readonly keep_chars: number;
  readonly error_lines: number;
}

/** `early` holds until the outputs of the notebook, as cut, reach `early_chars`; then `late`. */
export interface Limits {
  readonly early: Cut;
  readonly early_chars: number;
  readonly late: Cut;
  readonly error_line_chars: number;
}

export const LIMITS: Limits = {
  early: { over_chars: 100_000, keep_chars: 20_000, error_lines: 50 },
  early_chars: 1_000_000,
  late: { over_chars: 4_000, keep_chars: 1_500, error_lines: 2 },
  error_line_chars: 400
};

const WINDOW_CHARS = 1_000_000;
const TEXT_TYPES = new Set(['application/javascript', 'application/json', 'application/xml']);
const LIKE_ERRORS = /error|exception|traceback|failed|warning|fatal/gi;

/** Cuts the outputs of one notebook, given in order. */
export class OutputCutter {
  constructor(private readonly limits: Limits = LIMITS) {}

  /**
   * The output, its long fields cut and named in `cut` with their full lengths. Texts keep
   * head, tail and lines between that look like errors; binary and JSON data are emptied; other
   * long values are shortened without a word.
   */
  cut(output: Json): Json {
    const { early, early_chars, late } = this.limits;
    const rule = this.keptChars < early_chars ? early : late;
    const totals: Record<string, number> = {};
    const found = Object.entries(output)
      .filter(([name]) => name !== 'cut')
      .map(([name, value]) => [name, this.field(name, value, rule, totals)]);
    const cut = Object.keys(totals).length > 0 ? { cut: totals } : {};
    return { ...Object.fromEntries(found), ...cut };
  }

  private field(name: string, value: JsonValue, rule: Cut, totals: Record<string, number>): JsonValue {
    if (name === 'data' && isObject(value)) {
      const data = Object.entries(value);
      return Object.fromEntries(data.map(([kind, of]) => [kind, this.data(kind, of, rule, totals)]));
    }
    if (name === 'traceback' && Array.isArray(value)) {
      return this.traceback(value, rule, totals);
    }
    const chars = sizeOf(value);
    if (chars <= rule.over_chars) {
      return this.kept(value, chars);
    }
    if (typeof value !== 'string') {
      return Array.isArray(value) ? [] : {};
    }
    if (name === 'text') {
      totals[name] = chars;
    }
    return this.text(value, rule);
  }

  private data(kind: string, value: JsonValue, rule: Cut, totals: Record<string, number>): JsonValue {
    const chars = sizeOf(value);
    if (chars <= rule.over_chars) {
      return this.kept(value, chars);
    }
    totals[kind] = chars;
    return typeof value === 'string' && isText(kind) ? this.text(value, rule) : '';
  }

  private traceback(lines: JsonValue[], rule: Cut, totals: Record<string, number>): JsonValue {
    const text = joinedLines(lines);
    if (text.length <= rule.over_chars) {
      return this.kept(lines, text.length);
    }
    totals['traceback'] = text.length;
    return [this.text(text, rule)];
  }

  private text(text: string, rule: Cut): string {
    const cut = cutText(text, rule, this.limits.error_line_chars);
    return this.kept(cut, cut.length);
  }

  private kept<T>(value: T, chars: number): T {
    this.keptChars += chars;
    return value;
  }

  private keptChars = 0;
}

export interface Part {
  readonly text: string;
  readonly start: number;
  readonly total_chars: number;
}

/** A part of a field of an output; the names are those of `cut`. Null: no such field. */
export function outputPart(output: Json, field: string, start: number, count: number): Part | null {
  const text = fieldText(output, field);
  if (text === null) {
    return null;
  }
  const from = whole(text, Math.max(0, start));
  const to = whole(text, Math.max(0, start) + Math.max(0, count));
  return { text: text.slice(from, to), start: from, total_chars: text.length };
}

/** A stored output with each text in one string, as workspace/notebook_outputs.py joins it. */
export function joinedOutput(output: Json): Json {
  const { text, data } = output;
  return {
    ...output,
    ...(Array.isArray(text) ? { text: text.join('') } : {}),
    ...(isObject(data) ? { data: joinedData(data) } : {})
  };
}

function joinedData(data: Json): Json {
  const isLines = (kind: string, value: JsonValue): value is JsonValue[] =>
    Array.isArray(value) && kind !== 'application/json' && !kind.endsWith('+json');
  const joined = Object.entries(data).map(([kind, value]) => [kind, isLines(kind, value) ? value.join('') : value]);
  return Object.fromEntries(joined);
}

/** Head, a line that says how much is left out, lines like errors, tail. */
function cutText(text: string, { keep_chars, error_lines }: Cut, errorLineChars: number): string {
  const start = whole(text, keep_chars);
  const end = whole(text, text.length - keep_chars);
  const lines = errorLines(text.slice(start, end), error_lines);
  const quoted = lines.map(line => `${clipped(line, errorLineChars)}\n`).join('');
  const closing = quoted === '' ? '' : '[…]\n';
  const gap = `\n[… ${end - start} characters left out …]\n${quoted}${closing}`;
  return `${text.slice(0, start)}${gap}${text.slice(end)}`;
}

/** Lines that look like errors: of more than `limit`, the first and the last half. */
function errorLines(gap: string, limit: number): string[] {
  const first = matchingLines(gap, limit + 1);
  if (first.length <= limit) {
    return first;
  }
  const wanted = limit - Math.floor(limit / 2);
  let last: string[] = [];
  for (let stop = gap.length; last.length < wanted && stop > 0; ) {
    const at = gap.lastIndexOf('\n', Math.max(stop - WINDOW_CHARS, 0)) + 1;
    last = [...matchingLines(gap.slice(at, stop), Infinity), ...last];
    stop = at - 1;
  }
  return [...first.slice(0, Math.floor(limit / 2)), ...last.slice(-wanted)];
}

function matchingLines(text: string, limit: number): string[] {
  const found: string[] = [];
  const words = new RegExp(LIKE_ERRORS);
  for (let match = words.exec(text); match && found.length < limit; match = words.exec(text)) {
    const end = text.indexOf('\n', match.index);
    const stop = end < 0 ? text.length : end;
    found.push(text.slice(text.lastIndexOf('\n', match.index) + 1, stop));
    words.lastIndex = stop;
  }
  return found;
}

function fieldText(output: Json, field: string): string | null {
  const { text, traceback, data } = output;
  if (field === 'text') {
    return typeof text === 'string' ? text : null;
  }
  if (field === 'traceback') {
    return Array.isArray(traceback) ? joinedLines(traceback) : null;
  }
  const value = isObject(data) ? data[field] : undefined;
  if (value === undefined) {
    return null;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function sizeOf(value: JsonValue): number {
  return (typeof value === 'string' ? value : JSON.stringify(value)).length;
}

function joinedLines(lines: readonly JsonValue[]): string {
  return lines.map(String).join('\n');
}

function isText(kind: string): boolean {
  const hasTextSuffix = kind.endsWith('+json') || kind.endsWith('+xml');
  return !kind.startsWith('image/') && (kind.startsWith('text/') || TEXT_TYPES.has(kind) || hasTextSuffix);
}

/** `at`, moved in front of a pair that it would split. */
function whole(text: string, at: number): number {
  const [high, low] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  const splits = high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
  return splits ? at - 1 : Math.min(at, text.length);
}

function clipped(line: string, limit: number): string {
  return line.length <= limit ? line : `${line.slice(0, whole(line, limit))}…`;
}

function isObject(value: JsonValue | undefined): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
