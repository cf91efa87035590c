import { expect, test } from 'vitest';
import { changedSpans, mergeText } from '../../src/diff/text-merge';

const BASE = 'one\ntwo\nthree\nfour\nfive\n';

test('what both changed in different lines is in the merged text', () => {
  const mine = BASE.replace('one', 'ONE');
  const theirs = BASE.replace('five', 'FIVE\nsix');
  expect(mergeText(BASE, mine, theirs)).toEqual({
    text: 'ONE\ntwo\nthree\nfour\nFIVE\nsix\n',
    conflicts: []
  });
});

test('lines that both changed stay as they are here, and both are told', () => {
  const mine = BASE.replace('three', 'mine').replace('one', 'ONE');
  const theirs = BASE.replace('three', 'theirs').replace('five', 'FIVE');
  expect(mergeText(BASE, mine, theirs)).toEqual({
    text: 'ONE\ntwo\nmine\nfour\nFIVE\n',
    conflicts: [{ line: 3, mine: 'mine\n', theirs: 'theirs\n' }]
  });
});

test('the same change on both sides is no conflict', () => {
  const both = BASE.replace('three', 'same');
  expect(mergeText(BASE, both, both)).toEqual({ text: both, conflicts: [] });
});

test('one side unchanged gives the other, whatever it is', () => {
  for (const other of ['', 'x', BASE + 'end', BASE.replace('one\n', '')]) {
    expect(mergeText(BASE, BASE, other)).toEqual({ text: other, conflicts: [] });
    expect(mergeText(BASE, other, BASE)).toEqual({ text: other, conflicts: [] });
  }
});

test('the spans make one text of the other', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  const text = (): string => Array.from({ length: random(9) }, () => 'abc🙂\n'[random(6)] ?? '').join('');
  for (let n = 0; n < 500; n++) {
    const [before, after] = [text(), text()];
    const made = changedSpans(before, after).reduce(
      (now, { start, end, text }) => now.slice(0, start) + text + now.slice(end),
      before
    );
    expect(made).toBe(after);
  }
});

test('two distant changes are two spans, so that what is between stays in place', () => {
  expect(changedSpans(BASE, BASE.replace('one', 'ONE').replace('five', 'FIVE'))).toHaveLength(2);
});

test('a long text is merged quickly', () => {
  const lines = Array.from({ length: 60_000 }, (_, n) => (n % 3 ? `line ${n}` : '')).join('\n');
  const mine = lines.replace('line 100\n', 'mine\n');
  const theirs = lines.replace('line 59900\n', 'theirs\n');
  const { text, conflicts } = mergeText(lines, mine, theirs);
  expect(conflicts).toEqual([]);
  expect(text).toBe(mine.replace('line 59900\n', 'theirs\n'));
});
