import { expect, test } from 'vitest';

import { patch } from '../../src/ui/text/patch';

function holding(html: string): HTMLElement {
  const element = document.createElement('div');
  element.innerHTML = html;
  return element;
}

test.each([
  ['', '<p>a</p>'],
  ['<p>a</p>', ''],
  ['<p>a</p><p>b</p>', '<p>a</p><pre>b</pre><p>c</p>'],
  ['<ul><li>one</li><li>tw</li></ul>', '<ul><li>one</li><li>two <b>x</b></li><li>three</li></ul>'],
  ['<p class="x">a</p>', '<p>a</p>'],
  ['<p>a <code>b</code> c</p><hr>', '<p>a <code>b</code> d</p>'],
  ['text', '<p>text</p>']
])('%j becomes %j', (before, after) => {
  const element = holding(before);
  patch(element, holding(after));
  expect(element.innerHTML).toBe(after);
});

test('what is the same already stays, down to the text that grows', () => {
  const element = holding('<p>a</p><ul><li>one</li><li>tw</li></ul>');
  const kept = [element.querySelector('p'), ...element.querySelectorAll('li')];
  const text = element.querySelectorAll('li')[1]?.firstChild;
  patch(element, holding('<p>a</p><ul><li>one</li><li>two</li><li>three</li></ul>'));
  expect([element.querySelector('p'), ...element.querySelectorAll('li')].slice(0, 3)).toEqual(kept);
  expect(element.querySelectorAll('li')[1]?.firstChild).toBe(text);
});
