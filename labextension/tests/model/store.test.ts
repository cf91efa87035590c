import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ReplayTransport } from '../../src/client/replay-transport';
import { TransportError } from '../../src/client/transport';
import { Store, type Memory } from '../../src/model/store';
import { runningTurn, waitingCalls } from '../../src/model/session-view';
import type { AnyEvent, StartTurn, TurnContext } from '../../src/protocol/types';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const CONTEXT: TurnContext = { path: 'a.ipynb', cell_id: null, selection: null, attention: '' };
const PROMPT = { prompt: 'Fix it', context: CONTEXT, mode: 'ask' as const };

/** Events by type and fields; the envelope is filled in. */
function trail(sessionId: string, first = 1) {
  let seq = first - 1;
  return (type: AnyEvent['type'], turnId: string | null, fields: object = {}): AnyEvent =>
    ({ seq: ++seq, session_id: sessionId, turn_id: turnId, at: '2026-01-01T00:00:00Z', type, ...fields }) as AnyEvent;
}

const STARTED = { prompt: 'Fix it', mode: 'ask', context: CONTEXT, provider: 'demo', model: 'demo' };

function waitingTrail(sessionId: string): AnyEvent[] {
  const event = trail(sessionId);
  return [
    event('session.created', null, { title: 'T', notebook_path: null }),
    event('turn.started', 't1', STARTED),
    event('model.requested', 't1', { request: 1, attempt: 1 }),
    event('tool.requested', 't1', { tool_call_id: 'c1', name: 'run_cells', input: {}, effect: 'execute' }),
    event('approval.requested', 't1', {
      approval_id: 'a1',
      tool_call_id: 'c1',
      title: 'Run this cell?',
      reason: '',
      preview: { kind: 'action', text: 'x' },
      digest: 'd'
    })
  ];
}

function memory(initial: Record<string, string> = {}): Memory & { values: Map<string, string> } {
  const values = new Map(Object.entries(initial));
  return {
    values,
    get: key => values.get(key) ?? null,
    set: (key, value) => void (value === null ? values.delete(key) : values.set(key, value))
  };
}

const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

test('the first prompt makes a session, for the notebook it is about', async () => {
  const transport = new ReplayTransport();
  const remembered = memory();
  const store = new Store(transport, remembered);
  expect(await store.startTurn(PROMPT)).toBe(true);
  expect(transport.calls.map(call => call.method)).toEqual(['createSession', 'startTurn', 'wake']);
  expect(transport.calls[0]?.args).toEqual([{ title: null, notebook_path: 'a.ipynb' }]);
  expect(remembered.values.get('session')).toBe(store.getSnapshot().session?.sessionId);
});

test('a prompt is shown at once, until its turn is told', async () => {
  const transport = new ReplayTransport({ s: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  await store.startTurn(PROMPT);
  const sending = store.getSnapshot().session?.sending;
  expect(sending?.prompt).toBe('Fix it');
  transport.play('s', [trail('s')('turn.started', sending?.turn_id ?? '', STARTED)]);
  const session = store.getSnapshot().session;
  expect(session?.sending).toBeNull();
  expect(session?.transcript.turns).toHaveLength(1);
});

test('a refused prompt is taken back, and the reason is kept until the next act', async () => {
  const transport = new ReplayTransport({ s: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  transport.refusal = new TransportError(409, 'conflict', 'A turn runs.', 'Wait.');
  expect(await store.startTurn(PROMPT)).toBe(false);
  expect(store.getSnapshot().session).toMatchObject({
    sending: null,
    problem: { code: 'conflict', message: 'A turn runs.', hint: 'Wait.' }
  });
  transport.refusal = null;
  await store.startTurn(PROMPT);
  expect(store.getSnapshot().session?.problem).toBeNull();
});

test('a prompt whose answer was lost is sent again as the same turn', async () => {
  const transport = new ReplayTransport({ s: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  transport.refusal = new TransportError(0, 'unreachable', 'Gone.', '');
  expect(await store.startTurn(PROMPT)).toBe(false);
  transport.refusal = null;
  const moved = { ...PROMPT, context: { ...CONTEXT, cell_id: 'c2' } };
  expect(await store.startTurn(moved)).toBe(true);
  const [first, second] = sentIds(transport);
  expect(second).toBe(first);
});

test.each<[string, object, TransportError]>([
  ['another prompt', { prompt: 'Something else' }, new TransportError(0, 'unreachable', '', '')],
  ['another mode', { mode: 'plan' }, new TransportError(502, 'http_error', '', '')],
  ['a prompt that was refused', {}, new TransportError(409, 'turn_running', '', '')]
])('%s is a turn of its own', async (_, change, refusal) => {
  const transport = new ReplayTransport({ s: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  transport.refusal = refusal;
  await store.startTurn(PROMPT);
  transport.refusal = null;
  await store.startTurn({ ...PROMPT, ...change });
  expect(new Set(sentIds(transport)).size).toBe(2);
});

test('a prompt that got through all the same can be asked a second time', async () => {
  const transport = new ReplayTransport({ s: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  transport.refusal = new TransportError(0, 'unreachable', 'Gone.', '');
  await store.startTurn(PROMPT);
  transport.refusal = null;
  const [lost = ''] = sentIds(transport);
  const event = trail('s');
  transport.play('s', [
    event('turn.started', lost, STARTED),
    event('turn.finished', lost, { reason: 'done', error: null })
  ]);
  await store.startTurn(PROMPT);
  expect(new Set(sentIds(transport)).size).toBe(2);
});

function sentIds(transport: ReplayTransport): (string | null)[] {
  return transport.calls
    .filter(({ method }) => method === 'startTurn')
    .map(({ args }) => (args[1] as StartTurn).turn_id);
}

test('an answer is shown as under way until the server tells of it', async () => {
  const transport = new ReplayTransport({ s: waitingTrail('s') });
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  const before = store.getSnapshot().session;
  expect(before && waitingCalls(before.transcript).map(block => block.tool_call_id)).toEqual(['c1']);
  expect(await store.decide('a1', { decision: 'approve', digest: 'd' })).toBe(true);
  expect(store.getSnapshot().session?.deciding).toEqual({ a1: 'approve' });
  transport.play('s', [
    trail('s', 6)('approval.resolved', 't1', {
      approval_id: 'a1',
      decision: 'approve',
      scope: 'once',
      comment: '',
      by: 'user'
    })
  ]);
  const session = store.getSnapshot().session;
  expect(session?.deciding).toEqual({});
  expect(session && waitingCalls(session.transcript)).toEqual([]);
});

test('an answer that was not taken leaves the question waiting', async () => {
  const transport = new ReplayTransport({ s: waitingTrail('s') });
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  transport.refusal = new TransportError(0, 'unreachable', 'Gone.', '');
  expect(await store.decide('a1', { decision: 'approve' })).toBe(false);
  expect(store.getSnapshot().session?.deciding).toEqual({});
});

test('an answer to a question is under way until it is closed, and is kept nowhere', async () => {
  const ask = trail('s', 6)('question.asked', 't1', {
    question_id: 'q1',
    tool_call_id: 'c1',
    prompt: 'Password: ',
    secret: true,
    choices: []
  });
  const transport = new ReplayTransport({ s: [...waitingTrail('s'), ask] });
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  expect(await store.answer('q1', 'hunter2')).toBe(true);
  expect(transport.calls).toContainEqual({ method: 'answer', args: ['s', 'q1', 'hunter2'] });
  expect(store.getSnapshot().session?.answering).toEqual(['q1']);
  expect(JSON.stringify(store.getSnapshot())).not.toContain('hunter2');
  transport.play('s', [
    trail('s', 7)('question.closed', 't1', { question_id: 'q1', outcome: 'answered' })
  ]);
  expect(store.getSnapshot().session?.answering).toEqual([]);
  transport.refusal = new TransportError(409, 'already_answered', 'Answered.', '');
  expect(await store.answer('q1', 'other')).toBe(false);
  expect(store.getSnapshot().session?.answering).toEqual([]);
});

test('stopping says so until the turn has ended, and keeps what still runs', async () => {
  const transport = new ReplayTransport({ s: waitingTrail('s') });
  transport.cancelReply = { cancelled: true, still_running: ['a.ipynb'] };
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  const stopping = store.stop();
  expect(store.getSnapshot().session?.stop).toBe('stopping');
  await stopping;
  transport.play('s', [trail('s', 6)('turn.finished', 't1', { reason: 'cancelled', error: null })]);
  const session = store.getSnapshot().session;
  expect(session).toMatchObject({ stop: 'none', stillRunning: ['a.ipynb'] });
  expect(session && runningTurn(session.transcript)).toBeNull();
});

test('deltas are joined before they are drawn, an end is drawn at once', async () => {
  const transport = new ReplayTransport({ s: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  const event = trail('s');
  transport.play('s', [event('turn.started', 't1', STARTED)]);
  let draws = 0;
  store.subscribe(() => draws++);
  for (let i = 0; i < 100; i++) {
    transport.play('s', [event('text.delta', 't1', { text: 'x' })]);
    await settle(5);
  }
  expect(draws).toBeGreaterThan(3);
  expect(draws).toBeLessThan(12);
  transport.play('s', [event('turn.finished', 't1', { reason: 'done', error: null })]);
  expect(store.getSnapshot().session?.transcript.turns[0]?.state).toBe('done');
});

test('the first piece of a text is drawn at once, also right after something else', async () => {
  const transport = new ReplayTransport({ s: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  const event = trail('s');
  transport.play('s', [
    event('turn.started', 't1', STARTED),
    event('model.requested', 't1', { request: 1, attempt: 1 })
  ]);
  transport.play('s', [event('thinking.delta', 't1', { text: 'Hm' })]);
  transport.play('s', [event('text.delta', 't1', { text: 'So' })]);
  const blocks = store.getSnapshot().session?.transcript.turns[0]?.blocks;
  expect(blocks).toEqual([
    { type: 'thinking', text: 'Hm' },
    { type: 'text', text: 'So' }
  ]);
});

test('after Stop the text stands still until the turn has ended', async () => {
  const transport = new ReplayTransport({ s: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  const event = trail('s');
  const shown = () => store.getSnapshot().session?.transcript.turns[0]?.blocks;
  transport.play('s', [event('turn.started', 't1', STARTED)]);
  transport.play('s', [event('text.delta', 't1', { text: 'One' })]);
  void store.stop();
  transport.play('s', [event('text.delta', 't1', { text: ' two' })]);
  await settle(1000);
  expect(shown()).toEqual([{ type: 'text', text: 'One' }]);
  transport.play('s', [event('turn.finished', 't1', { reason: 'cancelled', error: null })]);
  expect(shown()).toEqual([{ type: 'text', text: 'One two' }]);
});

test('a snapshot keeps its identity while nothing changes', async () => {
  const store = new Store(new ReplayTransport({ s: [] }), memory());
  store.openSession('s');
  await settle(100);
  const before = store.getSnapshot();
  store.wake('other');
  await settle(1000);
  expect(store.getSnapshot()).toBe(before);
});

test('going back to a session shows what it had, and asks only for the rest', async () => {
  const transport = new ReplayTransport({ s: waitingTrail('s'), r: [] });
  const asked: number[] = [];
  const subscribe = transport.subscribe.bind(transport);
  transport.subscribe = (sessionId, after, subscriber) => {
    asked.push(after);
    return subscribe(sessionId, after, subscriber);
  };
  const store = new Store(transport, memory());
  store.openSession('s');
  await settle(100);
  store.openSession('r');
  await settle(100);
  store.openSession('s');
  expect(store.getSnapshot().session?.transcript.turns).toHaveLength(1);
  expect(asked).toEqual([0, 0, 5]);
});

test('events of a session that was left are not mixed into the next', async () => {
  const transport = new ReplayTransport({ s: waitingTrail('s'), r: [] });
  const store = new Store(transport, memory());
  store.openSession('s');
  store.openSession('r');
  await settle(100);
  expect(store.getSnapshot().session).toMatchObject({ sessionId: 'r', transcript: { last_seq: 0 } });
});

test('the session of the last visit is opened, and forgotten when it is gone', async () => {
  const transport = new ReplayTransport();
  const remembered = memory({ session: 'gone' });
  transport.subscribe = (_, __, subscriber) => {
    subscriber.onFailed(new TransportError(404, 'not_found', 'No such session.', ''));
    return { close: () => undefined };
  };
  const store = new Store(transport, remembered);
  store.restore();
  expect(store.getSnapshot().session).toMatchObject({ load: 'failed', problem: { code: 'not_found' } });
  expect(remembered.values.has('session')).toBe(false);
});

test('a wake-up refreshes the list only where it is shown', async () => {
  const transport = new ReplayTransport({ s: [] });
  let lists = 0;
  transport.listSessions = async () => {
    lists++;
    return [];
  };
  const store = new Store(transport, memory());
  store.wake('s');
  await settle();
  expect(lists).toBe(0);
  await store.refreshSessions();
  store.wake('s');
  await settle();
  expect(lists).toBe(2);
});
