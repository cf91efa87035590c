import { expect, test } from 'vitest';
import { mergeCells, withKnownIds, type CellState } from '../../src/diff/cell-merge';

const cell = (id: string, source = `source ${id}`, more: Partial<CellState> = {}): CellState => ({
  id,
  type: 'code',
  source,
  metadata: {},
  attachments: '',
  run: '',
  ranAt: '',
  count: null,
  ...more
});
const BASE = [cell('a'), cell('b'), cell('c')];
const replaced = (cells: readonly CellState[], ...changes: CellState[]): CellState[] =>
  cells.map(old => changes.find(({ id }) => id === old.id) ?? old);
const texts = (cells: readonly { source: string }[]) => cells.map(({ source }) => source);
const ids = (cells: readonly { id: string }[]) => cells.map(({ id }) => id).join(' ');

test('what each side changed alone is in the result', () => {
  const merged = mergeCells(BASE, replaced(BASE, cell('a', 'mine')), replaced(BASE, cell('c', 'theirs')));
  expect(texts(merged.cells)).toEqual(['mine', 'source b', 'theirs']);
  expect(merged).toMatchObject({ conflicts: [], taken: 1, isTheirs: false });
});

test('nothing changed here: the result is the file', () => {
  const theirs = [cell('n'), cell('c', 'changed'), cell('a')];
  const merged = mergeCells(BASE, BASE, theirs);
  expect(ids(merged.cells)).toBe('n c a');
  expect(merged).toMatchObject({ conflicts: [], isTheirs: true });
});

test('a cell changed by both keeps the text it has here, and the other is told', () => {
  const merged = mergeCells(BASE, replaced(BASE, cell('b', 'mine')), replaced(BASE, cell('b', 'theirs')));
  expect(texts(merged.cells)).toEqual(['source a', 'mine', 'source c']);
  expect(merged.conflicts).toEqual([{ id: 'b', mine: 'mine', theirs: 'theirs' }]);
});

test('the same change on both sides is no conflict', () => {
  const both = replaced(BASE, cell('b', 'same'));
  expect(mergeCells(BASE, both, both)).toMatchObject({ conflicts: [], taken: 0, isTheirs: true });
});

test('a deletion counts only where the other side left the cell alone', () => {
  const without = BASE.filter(({ id }) => id !== 'b');
  expect(ids(mergeCells(BASE, BASE, without).cells)).toBe('a c');
  expect(ids(mergeCells(BASE, without, BASE).cells)).toBe('a c');
  const changed = replaced(BASE, cell('b', 'changed'));
  for (const merged of [mergeCells(BASE, changed, without), mergeCells(BASE, without, changed)]) {
    expect(texts(merged.cells)).toEqual(['source a', 'changed', 'source c']);
    expect(merged.conflicts).toHaveLength(1);
  }
});

test('a cell that was run here is not deleted by the other side', () => {
  const ran = replaced(BASE, cell('b', 'source b', { run: 'output', count: 1 }));
  expect(ids(mergeCells(BASE, ran, BASE.filter(({ id }) => id !== 'b')).cells)).toBe('a b c');
});

test('cells inserted on both sides are both there, each behind its neighbour', () => {
  const mine = [cell('a'), cell('m'), cell('b'), cell('c')];
  const theirs = [cell('t'), cell('a'), cell('b'), cell('u'), cell('c')];
  expect(ids(mergeCells(BASE, mine, theirs).cells)).toBe('t a m b u c');
});

test('a move of one side is taken; where both moved, ours stays', () => {
  const theirs = [cell('c'), cell('a'), cell('b')];
  expect(ids(mergeCells(BASE, [...BASE, cell('m')], theirs).cells)).toBe('c m a b');
  expect(ids(mergeCells(BASE, [cell('b'), cell('a'), cell('c')], theirs).cells)).toBe('b a c');
});

test('outputs: the side that ran has them, of two runs the newer one', () => {
  const at = (count: number, ranAt = ''): CellState => cell('b', 'source b', { run: `out ${count}`, count, ranAt });
  const takes = (mine: CellState, theirs: CellState): boolean | undefined =>
    mergeCells(BASE, replaced(BASE, mine), replaced(BASE, theirs)).cells[1]?.takesRun;
  expect(takes(cell('b'), at(1))).toBe(true);
  expect(takes(at(1), cell('b'))).toBe(false);
  expect(takes(at(1), at(2))).toBe(true);
  expect(takes(at(2), at(1))).toBe(false);
  expect(takes(at(9, '2026-01-01T10:00:00Z'), at(1, '2026-01-01T10:00:01.5Z'))).toBe(true);
  expect(takes(at(1, '2026-01-01T10:00:02+00:00'), at(9, '2026-01-01T10:00:01Z'))).toBe(false);
});

test('metadata are merged key by key', () => {
  const base = [cell('a', 'x', { metadata: { tags: ['t'], both: 1, gone: 1 } })];
  const mine = [cell('a', 'x', { metadata: { tags: ['t'], both: 2, gone: 1, own: true } })];
  const theirs = [cell('a', 'x', { metadata: { tags: ['u'], both: 3 } })];
  expect(mergeCells(base, mine, theirs).cells[0]?.metadata).toEqual({ tags: ['u'], both: 2, own: true });
  expect(mergeCells(base, mine, base).cells[0]?.metadata).toBeNull();
});

test('without a known base nothing is lost: what differs counts as changed by both', () => {
  const mine = [cell('a', 'mine'), cell('b'), cell('m')];
  const theirs = [cell('a', 'theirs'), cell('b'), cell('t')];
  const merged = mergeCells(null, mine, theirs);
  expect(new Set(texts(merged.cells))).toEqual(new Set(['mine', 'source b', 'source m', 'source t']));
  expect(merged.conflicts).toEqual([{ id: 'a', mine: 'mine', theirs: 'theirs' }]);
});

test('cells of a file without ids are known by their text, or their place', () => {
  const named = (...sources: string[]) => sources.map((source, n) => cell(`new-${n}`, source));
  expect(ids(withKnownIds(BASE, named('source a', 'source b', 'source c')))).toBe('a b c');
  expect(ids(withKnownIds(BASE, named('source a', 'changed', 'source c')))).toBe('a b c');
  expect(ids(withKnownIds(BASE, named('first', 'source a', 'source b', 'source c')))).toBe('new-0 a b c');
  expect(ids(withKnownIds(BASE, named('source a', 'source c')))).toBe('a c');
});

test('known ids count more than text and place', () => {
  const theirs = [cell('c', 'source a'), cell('a', 'source b')];
  expect(ids(withKnownIds(BASE, theirs))).toBe('c a');
});

test('no change of either side is ever lost, and a merge with the result changes nothing', () => {
  let seed = 11;
  const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
  const edited = (name: string): CellState[] =>
    BASE.flatMap((old, n) => {
      const kind = random(5);
      const changed = [cell(old.id, `${name} ${n}`)];
      return [[old], [old], changed, [], [old, cell(`${name}${n}`, `${name} new ${n}`)]][kind] ?? [];
    });
  for (let round = 0; round < 300; round++) {
    const [mine, theirs] = [edited('mine'), edited('theirs')];
    const { cells, conflicts } = mergeCells(BASE, mine, theirs);
    const shown = texts(cells);
    const told = conflicts.map(({ theirs: source }) => source);
    mine.filter(({ source }) => source.startsWith('mine')).forEach(({ source }) => expect(shown).toContain(source));
    theirs
      .filter(({ source }) => source.startsWith('theirs'))
      .forEach(({ source }) => expect([...shown, ...told]).toContain(source));
    const again = mergeCells(theirs, cells.map(({ id, source }) => cell(id, source)), theirs);
    expect(texts(again.cells)).toEqual(shown);
  }
});
