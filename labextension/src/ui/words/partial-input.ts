/** What can be read of a tool call's input while it is still being written. */

const MAIN_FIELDS = ['source', 'content', 'code', 'command', 'new_text', 'new', 'after'];

export interface PartialInput {
  /** The value of `path` once it is complete, else "". */
  readonly path: string;
  /** The long text that is being written, as far as it has come. */
  readonly text: string;
}

export function readPartialInput(json: string): PartialInput {
  const path = /"path"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(json)?.[1];
  return { path: path ? unescapeString(path.slice(1, -1)) : '', text: mainText(json) };
}

/** The last main field that has begun, unescaped; half an escape at the end is left out. */
function mainText(json: string): string {
  const field = new RegExp(`"(?:${MAIN_FIELDS.join('|')})"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)`, 'gs');
  let last = '';
  for (const match of json.matchAll(field)) {
    last = match[1] ?? '';
  }
  return unescapeString(last);
}

function unescapeString(escaped: string): string {
  const whole = escaped.replace(/\\u[0-9a-fA-F]{0,3}$/, '');
  return whole.replace(/\\(u[0-9a-fA-F]{4}|.)/gs, (_, code: string) => unescapeOne(code));
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

function unescapeOne(code: string): string {
  return code.length === 5
    ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
    : (ESCAPES[code] ?? code);
}
