import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { HttpTransport } from '../../src/client/http-transport';
import { TransportError, type ConnectionState } from '../../src/client/transport';
import type { AnyEvent, StartTurn } from '../../src/protocol/types';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const envelope = (seq: number) => ({ seq, session_id: 's', turn_id: 't', at: '2026-01-01T00:00:00Z' });
const delta = (seq: number): AnyEvent => ({ ...envelope(seq), type: 'text.delta', text: `${seq}` });
const finished = (seq: number): AnyEvent => ({
  ...envelope(seq),
  type: 'turn.finished',
  reason: 'done',
  error: null
});
const started = (seq: number): AnyEvent => ({
  ...envelope(seq),
  type: 'turn.started',
  prompt: 'p',
  mode: 'ask',
  context: { path: null, cell_id: null, selection: null, attention: '' },
  provider: 'demo',
  model: 'demo'
});

const wire = (events: readonly object[]) =>
  events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('');

type Step = Response | Error;

/** A server whose answers are given in order; keeps what it was asked for. */
function scripted(steps: Step[]) {
  const asked: string[] = [];
  const fetcher = async (path: string, init: RequestInit): Promise<Response> => {
    asked.push(`${init.method ?? 'GET'} ${path}`);
    const step = steps.shift();
    if (!step) {
      return new Promise(() => undefined);
    }
    if (step instanceof Error) {
      throw step;
    }
    return step;
  };
  return { asked, transport: new HttpTransport(fetcher) };
}

/** A stream that is fed by hand and stays open until ended or broken. */
function open() {
  let control: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: c => void (control = c) });
  return {
    response: new Response(body),
    send: (text: string) => control?.enqueue(new TextEncoder().encode(text)),
    sendBytes: (bytes: Uint8Array) => control?.enqueue(bytes),
    end: () => control?.close(),
    break: () => control?.error(new Error('reset'))
  };
}

function watch(transport: HttpTransport, after = 0) {
  const seen: number[] = [];
  const states: ConnectionState[] = [];
  const failures: TransportError[] = [];
  const subscription = transport.subscribe('s', after, {
    onEvents: events => seen.push(...events.map(event => event.seq)),
    onConnection: state => states.push(state),
    onFailed: error => failures.push(error)
  });
  return { seen, states, failures, subscription };
}

const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

test('an ended stream with no running turn leaves no connection, until woken', async () => {
  const { transport, asked } = scripted([
    new Response(wire([started(1), finished(2)])),
    new Response(wire([started(3), finished(4)]))
  ]);
  const { seen, states } = watch(transport);
  await settle(60_000);
  expect(asked).toEqual(['GET sessions/s/events?after=0&idle=close']);
  expect(states).toEqual(['live', 'idle']);
  transport.wake('other');
  await settle();
  expect(asked).toHaveLength(1);
  transport.wake('s');
  await settle();
  expect(asked[1]).toBe('GET sessions/s/events?after=2&idle=close');
  expect(seen).toEqual([1, 2, 3, 4]);
});

test('a stream that breaks is resumed after the last event, and says so', async () => {
  const first = open();
  const { transport, asked } = scripted([first.response, new Response(wire([delta(3), finished(4)]))]);
  const { seen, states } = watch(transport);
  await settle();
  first.send(wire([started(1), delta(2)]));
  await settle();
  first.break();
  await settle();
  expect(states).toEqual(['live', 'reconnecting']);
  await settle(2000);
  expect(asked[1]).toContain('after=2');
  expect(seen).toEqual([1, 2, 3, 4]);
  expect(states).toEqual(['live', 'reconnecting', 'live', 'idle']);
});

test('a stream that ends while a turn runs is taken up again', async () => {
  const { transport } = scripted([
    new Response(wire([started(1)])),
    new Response(wire([finished(2)]))
  ]);
  const { seen } = watch(transport);
  await settle(2000);
  expect(seen).toEqual([1, 2]);
});

test('an event that comes twice is delivered once', async () => {
  const { transport } = scripted([new Response(wire([started(1), delta(2), delta(2), delta(1), finished(3)]))]);
  const { seen } = watch(transport);
  await settle();
  expect(seen).toEqual([1, 2, 3]);
});

test('a gap is never delivered: the missing event is asked for again', async () => {
  const { transport, asked } = scripted([
    new Response(wire([started(1), delta(3)])),
    new Response(wire([delta(2), delta(3), finished(4)]))
  ]);
  const { seen } = watch(transport);
  await settle(2000);
  expect(seen).toEqual([1, 2, 3, 4]);
  expect(asked[1]).toContain('after=1');
});

test('an event of a later version counts but is left out', async () => {
  const later = { ...envelope(2), type: 'checkpoint.created' };
  const { transport } = scripted([new Response(wire([started(1), later, finished(3)]))]);
  const { seen } = watch(transport);
  await settle();
  expect(seen).toEqual([1, 3]);
});

test('an event cut anywhere between chunks, in the middle of a character too, is read whole', async () => {
  const stream = open();
  const { transport } = scripted([stream.response]);
  const texts: string[] = [];
  transport.subscribe('s', 0, {
    onEvents: events => events.forEach(e => e.type === 'text.delta' && texts.push(e.text)),
    onConnection: () => undefined,
    onFailed: () => undefined
  });
  await settle();
  for (const byte of new TextEncoder().encode(wire([{ ...delta(1), text: 'ä😀' }]))) {
    stream.sendBytes(Uint8Array.of(byte));
  }
  await settle();
  expect(texts).toEqual(['ä😀']);
});

test('waiting times grow while the server is away, and waking cuts them short', async () => {
  const { transport, asked } = scripted(Array.from({ length: 20 }, () => new Error('refused')));
  const { states } = watch(transport);
  await settle(700);
  expect(asked).toHaveLength(2);
  await settle(60_000);
  expect(asked.length).toBeLessThan(12);
  expect(new Set(states)).toEqual(new Set(['reconnecting']));
  const before = asked.length;
  transport.wake('s');
  await settle();
  expect(asked).toHaveLength(before + 1);
});

test('a connection that is silent for long is given up and replaced', async () => {
  const dead = open();
  const replies = [dead.response, new Response(wire([finished(2)]))];
  const asked: string[] = [];
  const transport = new HttpTransport(async (path, { signal }) => {
    asked.push(path);
    signal?.addEventListener('abort', () => dead.break());
    return replies.shift() ?? new Response('');
  });
  const { seen } = watch(transport);
  await settle();
  dead.send(wire([started(1)]));
  await settle(40_000);
  dead.send(': alive\n\n');
  await settle(40_000);
  expect(asked).toHaveLength(1);
  await settle(15_000);
  expect(asked).toHaveLength(2);
  expect(seen).toEqual([1, 2]);
});

test('a session that is gone fails once and is not asked for again', async () => {
  const gone = new Response('{"code":"not_found","message":"No such session.","hint":"Pick one."}', {
    status: 404
  });
  const { transport, asked } = scripted([gone]);
  const { failures } = watch(transport);
  await settle(60_000);
  expect(asked).toHaveLength(1);
  expect(failures.map(({ status, code, message, hint }) => [status, code, message, hint])).toEqual([
    [404, 'not_found', 'No such session.', 'Pick one.']
  ]);
});

test('nothing is delivered after closing', async () => {
  const stream = open();
  const { transport, asked } = scripted([stream.response]);
  const { seen, subscription } = watch(transport);
  await settle();
  subscription.close();
  stream.send(wire([started(1)]));
  await settle(60_000);
  expect(seen).toEqual([]);
  expect(asked).toHaveLength(1);
});

const TURN: StartTurn = {
  prompt: 'p',
  context: { path: null, cell_id: null, selection: null, attention: '' },
  attachments: [],
  mode: 'ask',
  turn_id: 'turn_1',
  provider: null,
  model: null,
  effort: null
};

test('starting a turn is repeated on a network fault when it has an id', async () => {
  const { transport, asked } = scripted([
    new Error('reset'),
    new Response('', { status: 503 }),
    new Response('{"turn_id":"turn_1"}', { status: 202 })
  ]);
  const turn = transport.startTurn('s', TURN);
  await settle(5000);
  expect(await turn).toBe('turn_1');
  expect(asked).toHaveLength(3);
});

test('an answer to a question is repeated on a network fault: it is taken once', async () => {
  const { transport, asked } = scripted([new Error('reset'), new Response('{}')]);
  const answered = transport.answer('s', 'q1', null);
  await settle(5000);
  await answered;
  expect(asked).toEqual(Array(2).fill('PUT sessions/s/questions/q1'));
});

test('starting a turn without an id, or a refused one, is not repeated', async () => {
  const without = scripted([new Error('reset')]);
  await expect(without.transport.startTurn('s', { ...TURN, turn_id: null })).rejects.toMatchObject({
    status: 0,
    code: 'unreachable'
  });
  const conflict = scripted([
    new Response('{"code":"conflict","message":"A turn runs.","hint":"Wait."}', { status: 409 })
  ]);
  await expect(conflict.transport.startTurn('s', TURN)).rejects.toMatchObject({
    status: 409,
    code: 'conflict',
    hint: 'Wait.'
  });
  expect(conflict.asked).toHaveLength(1);
});

test('an answer that is no JSON still gives an error with code and message', async () => {
  const { transport } = scripted([new Response('<html>', { status: 502, statusText: 'Bad Gateway' })]);
  await expect(transport.listSessions()).rejects.toMatchObject({
    status: 502,
    code: 'http_error',
    message: 'The server answered 502 Bad Gateway.'
  });
});

test('the last registration of a closing page outlives the page', async () => {
  const inits: RequestInit[] = [];
  const transport = new HttpTransport(async (_, init) => {
    inits.push(init);
    return new Response('', { status: 200 });
  });
  const body = { kind: 'lab' as const, documents: [], diagnostics: [] };
  await transport.registerHost('h', { ...body, closing: false });
  await transport.registerHost('h', { ...body, closing: true });
  expect(inits.map(init => init.keepalive)).toEqual([undefined, true]);
});
