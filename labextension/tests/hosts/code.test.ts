import { expect, test, vi } from 'vitest';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { renderCode } from '../../src/hosts/lab/render/code';

// these packages need more of a browser than there is here
vi.mock('@jupyterlab/codemirror', () => ({ jupyterHighlightStyle: { module: null } }));
vi.mock('@jupyterlab/rendermime', () => ({}));
vi.mock('@codemirror/language', () => ({ syntaxHighlighting: () => [] }));

/** A registry that highlights with one span, and cannot stand braces that nest. */
const languages = {
  findBest: (name: string) => (name === 'python' ? { name } : null),
  highlight: async (source: string, known: object | null, into: HTMLElement) => {
    if (known && source.includes('{{{{')) {
      throw new RangeError('Maximum call stack size exceeded');
    }
    const coloured = document.createElement('span');
    coloured.textContent = source;
    into.append(known ? coloured : source);
  }
} as unknown as IEditorLanguageRegistry;

async function drawn(source: string, language: string): Promise<HTMLElement> {
  const into = document.createElement('code');
  await renderCode(languages, source, language, into);
  return into;
}

test('a known language has its colours', async () => {
  expect((await drawn('x = 1', 'python')).querySelector('span')).not.toBeNull();
  expect((await drawn('x = 1', 'klingon')).querySelector('span')).toBeNull();
});

test.each([
  ['nested deeper than the highlighter can go', '{'.repeat(5000)],
  ['nested as only an attack is', '['.repeat(5000)],
  ['very long', 'x = 1\n'.repeat(20_000)]
])('code that is %s is drawn without colours', async (_, source) => {
  const into = await drawn(source, 'python');
  expect(into.textContent).toBe(source);
  expect(into.querySelector('span')).toBeNull();
});
