/** What is done to model-written markdown before it is parsed. Pure. */

/** Unicode tags: no glyph, but a way to hide text from people and not from models. */
const TAGS = /[\u{E0000}-\u{E007F}]+/gu;
/** Marks that reorder or hide text around them. */
const BIDI = /[\u202A-\u202E\u2066-\u2069]/g;
/** Nesting that only an attack has; parsers need quadratic time for it. */
const BOMB = /(?:[>[(*_~`!<-]\s?){1000,}/;
const LONGEST_CHARS = 400_000;

/** Hidden characters made visible. `say` names their number in the user's language. */
export function visible(text: string, say: (count: number) => string): string {
  return text
    .replace(TAGS, run => say(Array.from(run).length))
    .replace(BIDI, mark => `\\u${mark.charCodeAt(0).toString(16)}`);
}

/** True for text that is not worth, or not safe, to parse. */
export function isUnparsable(text: string): boolean {
  return text.length > LONGEST_CHARS || BOMB.test(text);
}

const OPENING = /^((?:[\s>]|[-*+]\s|\d{1,9}[.)]\s)*)(`{3,}|~{3,})([^`]*)$/;

/**
 * Code fences with a plain language word. The parser puts the info string into its HTML as it
 * is, and draws some languages as diagrams; we show those as code.
 */
export function withPlainFences(text: string): string {
  let fence = '';
  return text
    .split('\n')
    .map(line => {
      const [, before = '', marks = '', info = ''] = OPENING.exec(line) ?? [];
      if (fence !== '') {
        fence = marks.startsWith(fence) && info.trim() === '' ? '' : fence;
        return line;
      }
      fence = marks;
      return marks === '' ? line : before + marks + plainLanguage(info);
    })
    .join('\n');
}

export interface Fence {
  readonly language: string;
  readonly code: string;
}

/** What a text holds that is one code fence, closed or not, and nothing else; else null. */
export function onlyFence(text: string): Fence | null {
  const [first = '', ...lines] = text.split('\n');
  const [, marks = '', info = ''] = /^(`{3,}|~{3,})([^`]*)$/.exec(first) ?? [];
  if (marks === '') {
    return null;
  }
  const end = lines.findIndex(line => closes(line, marks));
  const isAlone = end < 0 || lines.slice(end + 1).every(line => line.trim() === '');
  const code = end < 0 ? lines : lines.slice(0, end);
  return isAlone ? { language: plainLanguage(info), code: code.join('\n') } : null;
}

/** A line of nothing but enough of the same marks, not indented so far that it is code. */
function closes(line: string, marks: string): boolean {
  const [, found = ''] = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line) ?? [];
  return found.startsWith(marks);
}

function plainLanguage(info: string): string {
  const word = /^\s*([\w+#.-]+)/.exec(info)?.[1]?.toLowerCase() ?? '';
  return word === 'mermaid' ? 'text' : word;
}

/** TeX that reaches out of a formula: links, styles, ids, loading of packages. */
const REACHES_OUT =
  /\\(?:href|url|style|class|cssId|data|require|includegraphics|mmlToken|html|unicode|csname|javascript)\b/i;

/** True when `text` holds TeX that must not be typeset. */
export function reachesOut(text: string): boolean {
  return REACHES_OUT.test(text);
}

/** Formulas put back where `removeMath` left their marks; delimiters as MathJax wants them. */
export function withFormulas(html: string, formulas: readonly string[]): string {
  return html.replace(/@@(\d+)@@/g, (mark: string, index: string) =>
    (formulas[Number(index)] ?? mark).replace(/^\\\\([[(])([^]*)\\\\([\])])$/, '\\$1$2\\$3')
  );
}

/** Escape sequences other than colours removed, and other control characters with them. */
export function coloursOnly(text: string): string {
  return text
    .replace(/\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)/g, '')
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, found => (/^\x1b\[[\d;]*m$/.test(found) ? found : ''))
    .replace(/\x1b(?!\[)[@-Z\\-_]?/g, '')
    .replace(/[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]/g, '');
}
