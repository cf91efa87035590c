import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cellRevision } from '../../src/client/revision';
import { ReplayTransport } from '../../src/client/replay-transport';
import { TransportError } from '../../src/client/transport';
import { parseEdits, type NewCell } from '../../src/hosts/lab/documents/edits';
import { HostError } from '../../src/hosts/lab/documents/host-error';
import { HostLink } from '../../src/hosts/lab/documents/host-link';
import { problemsOf } from '../../src/hosts/lab/documents/lint';
import { planned, stepsBetween, type Steps } from '../../src/hosts/lab/documents/plan';
import type { HeldDocument, HostCall, RegisterHost } from '../../src/protocol/types';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const cell = (cell_id: string, source = cell_id, cell_type = 'code'): NewCell => ({
  cell_id,
  cell_type,
  source
});
const CELLS = [cell('a'), cell('b'), cell('c')];
const base = ({ cell_type, source }: NewCell) => cellRevision(cell_type, source);
const ids = (cells: readonly NewCell[]) => cells.map(({ cell_id }) => cell_id).join(' ');

test('edits are planned in order, each seeing the ones before', () => {
  const after = planned(CELLS, [
    { op: 'insert_cells', after: 'start', cells: [cell('n'), cell('m')] },
    { op: 'delete_cell', cell_id: 'b', base: base(cell('b')) },
    { op: 'replace_source', cell_id: 'n', base: base(cell('n')), source: 'new' },
    { op: 'insert_cells', after: 'n', cells: [cell('o')] },
    { op: 'insert_cells', after: 'end', cells: [cell('z')] }
  ]);
  expect(ids(after)).toBe('n o m a c z');
  expect(after[0]?.source).toBe('new');
});

test.each([
  ['a changed cell', { op: 'replace_source' as const, cell_id: 'a', base: 'x'.repeat(16), source: '' }],
  ['a cell that is gone', { op: 'delete_cell' as const, cell_id: 'q', base: 'x'.repeat(16) }],
  ['a place that is gone', { op: 'insert_cells' as const, after: 'q', cells: [cell('n')] }],
  ['an id that is taken', { op: 'insert_cells' as const, after: 'end', cells: [cell('b')] }]
])('%s is a conflict', (_, edit) => {
  expect(() => planned(CELLS, [edit])).toThrowError(HostError);
});

test('cells are moved in the order given, behind the cell named', () => {
  const move = (cell_ids: string[], after: string) => ids(planned(CELLS, [{ op: 'move_cells', cell_ids, after }]));
  expect(move(['c', 'a'], 'b')).toBe('b c a');
  expect(move(['b'], 'end')).toBe('a c b');
  expect(move(['c', 'b'], 'start')).toBe('c b a');
});

test.each([
  ['a cell that is gone', ['q'], 'start'],
  ['a cell named twice', ['a', 'a'], 'start'],
  ['a place that moves itself', ['a', 'b'], 'a']
])('a move of %s is a conflict', (_, cell_ids, after) => {
  expect(() => planned(CELLS, [{ op: 'move_cells', cell_ids, after }])).toThrowError(HostError);
});

/** The list that the steps make of `before`. */
function walked(before: readonly NewCell[], { updates, deletions, insertions }: Steps): NewCell[] {
  const cells = before.map(item => ({ ...item }));
  updates.forEach(({ index, source }) => Object.assign(cells[index] ?? {}, { source }));
  deletions.forEach(index => cells.splice(index, 1));
  insertions.forEach(step => cells.splice(step.index, 0, step.cell));
  return cells;
}

test('the steps lead from one list to the other', () => {
  const after = [cell('n'), cell('a', 'changed'), cell('o'), cell('c', 'c', 'markdown'), cell('p')];
  expect(walked(CELLS, stepsBetween(CELLS, after))).toEqual(after);
});

test('any order is reached, the cell the user is in stays, and few others move', () => {
  const before = [...'abcdefgh'].map(id => cell(id));
  for (let seed = 1; seed <= 200; seed++) {
    const after = shuffled(before, seed).slice(seed % 3);
    const still = after[seed % after.length]?.cell_id ?? '';
    const steps = stepsBetween(before, after, still);
    expect(walked(before, steps)).toEqual(after);
    expect(steps.insertions.map(({ cell }) => cell.cell_id)).not.toContain(still);
    expect(steps.insertions.every(({ from, cell }) => before[from ?? -1]?.cell_id === cell.cell_id)).toBe(true);
  }
  const [first, ...rest] = before;
  expect(stepsBetween(before, [...rest, ...(first ? [first] : [])]).insertions).toHaveLength(1);
});

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const left = [...items];
  return items.map((_, n) => left.splice((seed * 7919 + n * 104729) % left.length, 1)).flat();
}

test('cells that share an id stay apart', () => {
  const twins = [cell('a', '1'), cell('a', '2'), cell('b')];
  const after = [cell('a', '1'), cell('a', 'new'), cell('b')];
  expect(walked(twins, stepsBetween(twins, after))).toEqual(after);
});

test('an edit that the page does not know is refused, not guessed', () => {
  expect(() => parseEdits([{ op: 'move_cell', cell_id: 'a' }])).toThrowError(/move_cell/);
  expect(() => parseEdits([{ op: 'replace_source', cell_id: 'a', base: 'x' }])).toThrowError(/source/);
  expect(() => parseEdits(undefined)).toThrowError(HostError);
  expect(() => parseEdits([{ op: 'begin_run', cell_id: 'a' }])).toThrowError(/base/);
  expect(parseEdits([{ op: 'end_run', cell_id: 'a', execution_count: null, timing: {} }])).toHaveLength(1);
});

const DOCUMENT: HeldDocument = { path: 'a.py', type: 'file', dirty: false, revision: '', active: true, problems: 0 };

/** A page whose list of documents and acts are in the test's hands. */
function page(documents: HeldDocument[] = [DOCUMENT]) {
  const transport = new ReplayTransport();
  const registered: RegisterHost[] = [];
  const answered: string[] = [];
  const done: string[] = [];
  let calls: HostCall[] = [];
  transport.registerHost = async (_, body) => void registered.push(body);
  transport.hostCalls = async () => calls;
  transport.answerHostCall = async (_, callId) => void answered.push(callId);
  const registration = (): RegisterHost => ({ kind: 'lab', documents: [...documents], diagnostics: [], closing: false });
  const link = new HostLink('host_1', transport, {
    registration,
    answer: async call => {
      done.push(call.call_id);
      return { value: {}, error_code: null, error: null };
    },
    registered: () => done.push('registered'),
    forgotten: () => done.push('forgotten')
  });
  const offer = (...ids: string[]) => {
    calls = ids.map(call_id => ({ call_id, method: 'read_text', params: { path: 'a.py' } }));
  };
  return { link, transport, registered, answered, done, offer, documents };
}

const callsOf = (done: readonly string[]) => done.filter(item => item.startsWith('c'));
const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

test('a page without documents asks nothing of the server', async () => {
  const { link, registered } = page([]);
  link.documentsChanged();
  await settle(5000);
  expect(registered).toEqual([]);
});

test('what a page holds is told once, and again only when it changed', async () => {
  const { link, registered, documents } = page();
  link.documentsChanged();
  await settle(5000);
  link.documentsChanged();
  link.documentsChanged();
  await settle(5000);
  expect(registered).toHaveLength(1);
  documents.length = 0;
  link.documentsChanged();
  await settle(5000);
  expect(registered.map(body => body.documents.length)).toEqual([1, 0]);
});

test('a call is done once, however often it is offered, and its answer is sent again', async () => {
  const { link, done, answered, offer } = page();
  link.documentsChanged();
  await settle();
  offer('c1');
  link.wake('host_1');
  link.wake('host_1');
  link.lookAgain();
  await settle(1000);
  link.wake('host_1');
  await settle(100);
  expect(callsOf(done)).toEqual(['c1']);
  expect(new Set(answered)).toEqual(new Set(['c1']));
  expect(answered.length).toBeGreaterThan(1);
});

test('a wake-up for another page is not ours', async () => {
  const { link, done, offer } = page();
  link.documentsChanged();
  await settle();
  offer('c1');
  link.wake('host_2');
  await settle(100);
  expect(callsOf(done)).toEqual([]);
});

test('an answer that did not get through is sent again by itself', async () => {
  const { link, transport, done, offer } = page();
  const tries: string[] = [];
  transport.answerHostCall = async (_, callId) => {
    tries.push(callId);
    if (tries.length < 3) {
      throw new TransportError(0, 'unreachable', '', '');
    }
  };
  link.documentsChanged();
  await settle();
  offer('c1');
  link.wake('host_1');
  await settle(20_000);
  expect(tries).toHaveLength(3);
  expect(callsOf(done)).toEqual(['c1']);
});

const UNKNOWN = new TransportError(404, 'not_found', 'This page is not registered.', '');

test('a server that was started anew is told again, and then asked again', async () => {
  const { link, transport, registered, done, offer } = page();
  link.documentsChanged();
  await settle();
  offer('c1');
  const offered = transport.hostCalls;
  transport.hostCalls = async () => {
    if (registered.length < 2) {
      throw UNKNOWN;
    }
    return offered();
  };
  link.wake('host_1');
  await settle(100);
  expect(registered).toHaveLength(2);
  expect(callsOf(done)).toEqual(['c1']);
});

test('news of a session are a reason to look whether the server still knows the page', async () => {
  const { link, transport, registered } = page();
  link.documentsChanged();
  await settle();
  transport.hostCalls = async () => {
    throw UNKNOWN;
  };
  link.lookAgain();
  link.lookAgain();
  await settle(100);
  expect(registered).toHaveLength(1);
  await settle(1000);
  expect(registered).toHaveLength(2);
});

test('a server that never knows the page is left alone until it wakes the page', async () => {
  const { link, transport, registered } = page();
  link.documentsChanged();
  await settle();
  let asked = 0;
  transport.hostCalls = async () => {
    asked++;
    throw UNKNOWN;
  };
  link.wake('host_1');
  await settle(60_000);
  expect({ asked, registered: registered.length }).toEqual({ asked: 2, registered: 2 });
  link.wake('host_1');
  await settle(60_000);
  expect({ asked, registered: registered.length }).toEqual({ asked: 4, registered: 3 });
});

test('the files are looked at when the server gets to know the page, also anew', async () => {
  const { link, transport, done, offer } = page();
  link.documentsChanged();
  await settle();
  offer();
  const offered = transport.hostCalls;
  let isNew = true;
  transport.hostCalls = async () => {
    if (isNew) {
      isNew = false;
      throw UNKNOWN;
    }
    return offered();
  };
  link.wake('host_1');
  await settle(100);
  expect(done).toEqual(['registered', 'forgotten', 'registered']);
});

test('a page that goes away says so, once', async () => {
  const { link, registered } = page();
  link.documentsChanged();
  await settle();
  link.close();
  link.close();
  await settle();
  expect(registered.map(({ closing, documents }) => [closing, documents.length])).toEqual([
    [false, 1],
    [true, 0]
  ]);
});

test('what a linter of another extension reports is found by its shape', () => {
  const view = new EditorView({ doc: 'import os\nx = y\n', extensions: lintGutter() });
  view.dispatch(
    setDiagnostics(view.state, [
      { from: 14, to: 15, severity: 'error', message: 'undefined name y', source: 'pyflakes' },
      { from: 7, to: 9, severity: 'warning', message: 'unused import' }
    ])
  );
  expect(problemsOf(view.state, 'c1')).toEqual([
    { cell_id: 'c1', line: 1, column: 8, severity: 'warning', message: 'unused import', source: '' },
    { cell_id: 'c1', line: 2, column: 5, severity: 'error', message: 'undefined name y', source: 'pyflakes' }
  ]);
  expect(problemsOf(EditorState.create({ doc: 'x' }), null)).toEqual([]);
});
