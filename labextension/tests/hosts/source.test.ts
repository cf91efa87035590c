import { expect, test } from 'vitest';
import {
  coloursOnly,
  isUnparsable,
  onlyFence,
  reachesOut,
  visible,
  withFormulas,
  withPlainFences
} from '../../src/hosts/lab/render/source';

const say = (count: number) => `[${count} hidden]`;

test('text hidden in Unicode tags is counted', () => {
  expect(visible('Done.\u{E0072}\u{E0075}\u{E006E}\u{E0020}\u{E0072}\u{E006D}', say)).toBe('Done.[6 hidden]');
});

test('marks that reorder text are shown as escapes', () => {
  expect(visible('a\u202Eb', say)).toBe('a\\u202eb');
});

test('a nesting bomb is not parsed, long ordinary text is', () => {
  expect(isUnparsable('>'.repeat(50_000) + '['.repeat(50_000))).toBe(true);
  expect(isUnparsable('> '.repeat(50_000))).toBe(true);
  expect(isUnparsable('A sentence with [a link](x.py) and `code`.\n'.repeat(2000))).toBe(false);
  expect(isUnparsable(`|${'---|'.repeat(40)}`)).toBe(false);
});

test('an info string is one plain word, and a diagram is code', () => {
  expect(withPlainFences('```"><img src=x onerror=1>\nx\n```')).toBe('```\nx\n```');
  expect(withPlainFences('```mermaid\ngraph TD;\n```')).toBe('```text\ngraph TD;\n```');
  expect(withPlainFences('~~~ Python {.x}\nx\n~~~')).toBe('~~~python\nx\n~~~');
});

test('what stands inside a fence is left as it is', () => {
  const text = '````md\n```mermaid\nx\n```\n````\n```c++\ny\n```';
  expect(withPlainFences(text)).toBe(text);
});

test('a fence in a list or a quotation counts', () => {
  expect(withPlainFences('- ```js onload=1\n  x\n  ```')).toBe('- ```js\n  x\n  ```');
  expect(withPlainFences('> ```mermaid\n> x\n> ```')).toBe('> ```text\n> x\n> ```');
});

test('TeX that leads out of a formula is noticed', () => {
  expect(reachesOut('$\\href{javascript:1}{x}$')).toBe(true);
  expect(reachesOut('$\\frac{a}{b} \\text{style}$')).toBe(false);
});

test('formulas come back where they were, with the delimiters of the typesetter', () => {
  expect(withFormulas('<p>@@0@@ and @@1@@ not @@7@@</p>', ['$x$', '\\\\(y\\\\)'])).toBe(
    '<p>$x$ and \\(y\\) not @@7@@</p>'
  );
});

test('of terminal text only colours stay', () => {
  expect(coloursOnly('\x1b]52;c;Y3VybA==\x07a\x1b[31mb\x1b[0m\x1b[2K\x1b[1Ac\x07\x08')).toBe('a\x1b[31mb\x1b[0mc');
});

test('concealed terminal text stays readable', () => {
  expect(coloursOnly('\x1b[8mhidden instruction\x1b[0m')).toContain('hidden instruction');
});

test.each([
  ['```python\nx = 1\n```', { language: 'python', code: 'x = 1' }],
  ['```Python title="<b>"\nx = 1\n\ny = 2', { language: 'python', code: 'x = 1\n\ny = 2' }],
  ['````md\n```\ninner\n```\n````\n', { language: 'md', code: '```\ninner\n```' }],
  ['~~~\na\n```\n~~~', { language: '', code: 'a\n```' }],
  ['```', { language: '', code: '' }]
])('code alone is known as such: %j', (text, fence) => {
  expect(onlyFence(text)).toEqual(fence);
});

test.each(['```py\nx\n```\nand words', 'words\n```py\nx\n```', '- ```py\n  x\n  ```', '`` `x` ``', ''])(
  'more than code is markdown: %j',
  text => {
    expect(onlyFence(text)).toBeNull();
  }
);
