/** A host without JupyterLab, a trail builder, and the mounted UI over a ReplayTransport. */
import { act } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

import { ReplayTransport } from '../../src/client/replay-transport';
import { Store } from '../../src/model/store';
import type { AnyEvent, Choice, JsonValue, Preview, ToolResult, TurnContext } from '../../src/protocol/types';
import type { DiffInput, Host, MountedUi, Surroundings, Target } from '../../src/ui/host';
import { mount } from '../../src/ui/mount';

export const SESSION = 'ses_1';

export const NOTEBOOK: Surroundings = {
  path: 'analysis.ipynb',
  type: 'notebook',
  dirty: false,
  cellId: 'c4',
  cellLabel: '4',
  selection: null,
  kernelName: 'Python 3',
  kernelState: 'idle',
  cells: 12,
  cellsWithErrors: 0
};

export class FakeHost implements Host {
  readonly kind = 'lab';
  readonly drawn: string[] = [];
  readonly diffs: DiffInput[] = [];
  readonly revealed: Target[] = [];
  readonly copied: string[] = [];
  /** Texts whose formulas were drawn, and whether that was in the page. */
  readonly typeset: [string, boolean][] = [];
  readonly terminals: string[] = [];
  readonly interrupted: string[] = [];
  readonly kept = new Map<string, string>();
  now: Surroundings = NOTEBOOK;
  sure = true;

  t(text: string, ...args: readonly (string | number)[]): string {
    return text.replace(/%(\d)/g, (_, n: string) => String(args[Number(n) - 1]));
  }
  tn(one: string, many: string, n: number): string {
    return this.t(n === 1 ? one : many, n);
  }
  async renderMarkdown(text: string, into: HTMLElement): Promise<void> {
    this.drawn.push(text);
    into.textContent = text;
  }
  async renderMath(text: string, into: HTMLElement): Promise<void> {
    this.typeset.push([text, into.isConnected]);
  }
  async renderCode(source: string, _language: string, into: HTMLElement): Promise<void> {
    into.textContent = source;
  }
  async renderAnsi(text: string, into: HTMLElement): Promise<void> {
    into.textContent = text.replace(/\u001b\[[\d;]*m/g, '');
  }
  icon(name: string, into: HTMLElement): void {
    into.dataset['icon'] = name;
  }
  surroundings(): Surroundings {
    return this.now;
  }
  onSurroundings(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
  change(part: Partial<Surroundings>): void {
    this.now = { ...this.now, ...part };
    act(() => this.listeners.forEach(listener => listener()));
  }
  reveal(target: Target): void {
    this.revealed.push(target);
  }
  openTerminal(name: string): void {
    this.terminals.push(name);
  }
  async interruptKernel(path: string): Promise<void> {
    this.interrupted.push(path);
  }
  showOutputs?: (path: string, cellIds: readonly string[]) => Promise<void>;
  openSettings(): void {}
  async copy(text: string): Promise<void> {
    this.copied.push(text);
  }
  turnContext(parts: { document: boolean; selection: boolean }): TurnContext {
    return {
      path: parts.document ? this.now.path : null,
      cell_id: parts.document ? this.now.cellId : null,
      selection: parts.selection ? this.now.selection : null,
      attention: ''
    };
  }
  renderDiff(diff: DiffInput, into: HTMLElement): () => void {
    this.diffs.push(diff);
    into.textContent = diff.after;
    return () => into.replaceChildren();
  }
  async confirm(): Promise<boolean> {
    return this.sure;
  }
  readonly memory = {
    get: (key: string): string | null => this.kept.get(key) ?? null,
    set: (key: string, value: string | null): void => {
      if (value === null) {
        this.kept.delete(key);
      } else {
        this.kept.set(key, value);
      }
    }
  };
  private readonly listeners = new Set<() => void>();
}

type Body = AnyEvent extends infer E
  ? E extends AnyEvent
    ? Omit<E, 'seq' | 'session_id' | 'turn_id' | 'at'>
    : never
  : never;

/** Events of one session, stamped in order, one second apart. */
export class Trail {
  readonly events: AnyEvent[] = [];
  private turnId: string | null = null;
  private clock = Date.parse('2026-11-30T09:00:00Z');

  static start(title = 'Sales'): Trail {
    return new Trail().add({ type: 'session.created', title, notebook_path: 'analysis.ipynb' });
  }
  add(...bodies: readonly Body[]): this {
    for (const body of bodies) {
      this.clock += 1000;
      this.events.push({
        ...body,
        seq: this.events.length + 1,
        session_id: SESSION,
        turn_id: this.turnId,
        at: new Date(this.clock).toISOString()
      });
    }
    return this;
  }
  turn(prompt = 'Fix the plot'): this {
    this.turnId = `turn_${this.events.length}`;
    const context = { path: 'analysis.ipynb', cell_id: null, selection: null, attention: '' };
    const model = { provider: 'anthropic', model: 'claude-sonnet-5', mode: 'ask' } as const;
    return this.add(
      { type: 'turn.started', prompt, context, ...model },
      { type: 'model.requested', request: 1, attempt: 1 }
    );
  }
  text(text: string): this {
    return this.add({ type: 'text.delta', text });
  }
  call(id: string, name: string, input: Record<string, JsonValue>, effect: Effect): this {
    return this.add({ type: 'tool.requested', tool_call_id: id, name, input, effect });
  }
  started(id: string): this {
    return this.add({ type: 'tool.started', tool_call_id: id });
  }
  finished(id: string, result: Partial<ToolResult> = {}): this {
    const full = { success: true, output: '', error: null, metadata: {}, ...result };
    return this.add({ type: 'tool.finished', tool_call_id: id, result: full });
  }
  read(id: string, path: string, count = 3): this {
    return this.call(id, 'read_file', { path }, 'read')
      .started(id)
      .finished(id, { metadata: { path, count } });
  }
  ask(id: string, title: string, preview: Preview): this {
    const question = { title, reason: 'It changes a document.', preview, digest: `dig_${id}` };
    return this.add({
      type: 'approval.requested',
      approval_id: `apr_${id}`,
      tool_call_id: id,
      ...question
    });
  }
  answered(id: string, decision: 'approve' | 'reject', comment = ''): this {
    return this.add({
      type: 'approval.resolved',
      approval_id: `apr_${id}`,
      decision,
      comment,
      scope: 'once',
      by: 'user'
    });
  }
  question(
    id: string,
    prompt: string,
    more: { secret?: boolean; choices?: Choice[]; id?: string } = {}
  ): this {
    const { secret = false, choices = [], id: question_id = `qst_${id}` } = more;
    const asked = { question_id, tool_call_id: id, prompt, secret, choices };
    return this.add({ type: 'question.asked', ...asked });
  }
  closed(id: string, outcome: 'answered' | 'dismissed' | 'void' = 'answered'): this {
    return this.add({ type: 'question.closed', question_id: `qst_${id}`, outcome });
  }
  detached(id: string, labels: string[]): this {
    const run = { run_id: `run_${id}`, tool_call_id: id, path: 'analysis.ipynb', labels };
    return this.add({ type: 'run.detached', ...run });
  }
  runEnds(id: string, state: string, text = ''): this {
    return this.add({ type: 'run.finished', run_id: `run_${id}`, state, text });
  }
  end(reason: 'done' | 'cancelled' | 'limit' | 'error' = 'done', error: Fault = null): this {
    this.add({ type: 'turn.finished', reason, error });
    this.turnId = null;
    return this;
  }
  /** The events added by `grow`. */
  later(grow: (trail: this) => unknown): readonly AnyEvent[] {
    const before = this.events.length;
    grow(this);
    return this.events.slice(before);
  }
}

type Effect = 'read' | 'write' | 'execute';
type Fault = { code: string; message: string; hint: string } | null;

export const DIFF: Preview = {
  kind: 'diff',
  path: 'analysis.ipynb',
  language: 'python',
  note: '',
  changes: [{ label: '4', cell_id: 'c4', before: 'plt.show()', after: 'import plt\nplt.show()' }]
};

export interface Shown {
  readonly ui: MountedUi;
  readonly host: FakeHost;
  readonly transport: ReplayTransport;
  readonly store: Store;
  readonly into: HTMLElement;
  play(events: readonly AnyEvent[]): Promise<void>;
}

const open: (() => void)[] = [];

/** Mount the UI; with `trail`, its session is restored. */
export async function show(
  trail: Trail | null = null,
  prepare: (parts: { host: FakeHost; transport: ReplayTransport }) => void = () => undefined
): Promise<Shown> {
  vi.stubGlobal('ResizeObserver', NoResizes);
  vi.useFakeTimers();
  const host = new FakeHost();
  const transport = new ReplayTransport(trail ? { [SESSION]: trail.events } : {});
  if (trail) {
    host.kept.set('session', SESSION);
  }
  prepare({ host, transport });
  const store = new Store(transport, host.memory);
  const into = document.createElement('div');
  document.body.append(into);
  let ui: MountedUi | undefined;
  await act(async () => {
    ui = mount({ host, transport, store, into });
  });
  if (!ui) {
    throw new Error('not mounted');
  }
  const mounted = ui;
  open.push(() => {
    act(() => mounted.dispose());
    store.dispose();
    into.remove();
  });
  await settle();
  const play = async (events: readonly AnyEvent[]): Promise<void> => {
    await act(async () => transport.play(SESSION, events));
    await settle();
  };
  return { ui: mounted, host, transport, store, into, play };
}

class NoResizes {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
}

/** Let the store's joined publishing and pending draws happen; the clock is not the real one. */
export async function settle(): Promise<void> {
  await act(async () => {
    await vi.advanceTimersByTimeAsync(SETTLED_MS);
  });
}

const SETTLED_MS = 400;

export function calls(shown: Shown, method: string): readonly (readonly unknown[])[] {
  return shown.transport.calls.filter(call => call.method === method).map(call => call.args);
}

afterEach(() => {
  open.splice(0).forEach(close => close());
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
