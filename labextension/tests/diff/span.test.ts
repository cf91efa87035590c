import { expect, test } from 'vitest';
import { changedSpan } from '../../src/diff/span';

const TEXTS = ['', 'a', 'ab', 'aba', 'x = 1\ny = 2\n', 'x = 100\ny = 2\n', 'x = 1\ny = 2', '😀b', '😁b', 'b😀', 'aaaa', 'aaa'];

test('replacing the span gives the other text, whatever the two are', () => {
  for (const before of TEXTS) {
    for (const after of TEXTS) {
      const span = changedSpan(before, after);
      const got = span ? before.slice(0, span.start) + span.text + before.slice(span.end) : before;
      expect(got).toBe(after);
    }
  }
});

test('the span is small, so that a cursor elsewhere stays', () => {
  expect(changedSpan('x = 1\ny = 2\n', 'x = 100\ny = 2\n')).toEqual({ start: 5, end: 5, text: '00' });
  expect(changedSpan('same', 'same')).toBeNull();
});

test('a character is not cut in its middle', () => {
  expect(changedSpan('😀', '😁')).toEqual({ start: 0, end: 2, text: '😁' });
});
