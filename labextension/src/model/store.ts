/**
 * The state of one UI: the session list, the session in view, what is under way. Made for
 * React's `useSyncExternalStore`; every act of the user goes through a method here.
 */
import type { Subscription, Transport } from '../client/transport';
import type {
  AnyEvent,
  Decision,
  ErrorInfo,
  ProvidersReply,
  SessionInfo,
  StartTurn
} from '../protocol/types';
import { paceOf } from './pace';
import { errorInfo } from './problems';
import { Publisher } from './publisher';
import {
  newView,
  runningTurn,
  withAnswering,
  withDecision,
  withEvents,
  type SessionView
} from './session-view';
import { TurnIds } from './turn-ids';

/** Sessions whose transcript is kept, so that going back to one needs no full replay. */
const KEPT_VIEWS = 8;
const MEMORY_KEY = 'session';

export interface StoreState {
  /** Null until asked for (`refreshSessions`). */
  readonly sessions: readonly SessionInfo[] | null;
  readonly providers: ProvidersReply | null;
  /** Null: nothing in view yet; the first prompt makes a new session. */
  readonly session: SessionView | null;
  /** An act outside a session that failed, until the next one. */
  readonly problem: ErrorInfo | null;
}

export interface Memory {
  get(key: string): string | null;
  set(key: string, value: string | null): void;
}

/** What `startTurn` needs; ids and defaults are added here. */
export type Prompt = Pick<StartTurn, 'prompt' | 'context' | 'mode'> &
  Partial<Pick<StartTurn, 'attachments' | 'provider' | 'model' | 'effort'>>;

export class Store {
  constructor(
    private readonly transport: Transport,
    private readonly memory: Memory
  ) {}

  /** Listen; returns the way to stop. Bound, as React calls it without `this`. */
  readonly subscribe = (listener: () => void): (() => void) => this.publisher.subscribe(listener);

  readonly getSnapshot = (): StoreState => this.publisher.value;

  dispose(): void {
    this.subscription?.close();
    this.subscription = null;
    this.publisher.dispose();
  }

  /** Open the session of the last visit, if there was one. */
  restore(): void {
    const sessionId = this.memory.get(MEMORY_KEY);
    if (sessionId && !this.state.session) {
      this.openSession(sessionId);
    }
  }

  openSession(sessionId: string): void {
    if (this.state.session?.sessionId === sessionId) {
      this.transport.wake(sessionId);
      return;
    }
    this.leave();
    this.memory.set(MEMORY_KEY, sessionId);
    this.show(this.left.get(sessionId) ?? newView(sessionId));
    this.follow(sessionId);
  }

  /** An empty view; the session itself is made with the first prompt. */
  newSession(): void {
    this.leave();
    this.memory.set(MEMORY_KEY, null);
    this.set({ session: null, problem: null });
  }

  async refreshSessions(): Promise<void> {
    await this.attempt(async () => this.set({ sessions: await this.transport.listSessions() }));
  }

  async loadProviders(): Promise<void> {
    await this.attempt(async () => this.set({ providers: await this.transport.providers() }));
  }

  async renameSession(sessionId: string, title: string): Promise<boolean> {
    return this.attempt(async () => {
      const info = await this.transport.renameSession(sessionId, title);
      const sessions = this.state.sessions;
      this.set({
        sessions: sessions && sessions.map(s => (s.session_id === sessionId ? info : s))
      });
      this.transport.wake(sessionId);
    });
  }

  async deleteSession(sessionId: string): Promise<boolean> {
    return this.attempt(async () => {
      await this.transport.deleteSession(sessionId);
      if (this.state.session?.sessionId === sessionId) {
        this.newSession();
      }
      this.left.delete(sessionId);
      const sessions = this.state.sessions;
      this.set({ sessions: sessions && sessions.filter(s => s.session_id !== sessionId) });
    });
  }

  /** Start a turn, in a new session if none is in view. False: not started, see `problem`. */
  async startTurn(prompt: Prompt): Promise<boolean> {
    return this.attempt(async () => {
      const sessionId = this.state.session?.sessionId ?? (await this.sessionFor(prompt));
      const { transcript } = this.state.session ?? newView(sessionId);
      const turn_id = this.turnIds.next(prompt, transcript);
      this.update(sessionId, view => ({
        ...view,
        sending: { turn_id, prompt: prompt.prompt, context: prompt.context, mode: prompt.mode }
      }));
      try {
        await this.transport.startTurn(sessionId, { ...turnDefaults, ...prompt, turn_id });
      } catch (error) {
        this.turnIds.failed(error, prompt, sessionId, turn_id);
        this.update(sessionId, view => ({ ...view, sending: null }));
        throw error;
      }
      this.transport.wake(sessionId);
    });
  }

  /** Stop the agent. What a kernel goes on with is in `stillRunning`. */
  async stop(): Promise<void> {
    const view = this.state.session;
    if (!view || !runningTurn(view.transcript) || view.stop === 'stopping') {
      return;
    }
    const sessionId = view.sessionId;
    this.update(sessionId, now => ({ ...now, stop: 'stopping' }));
    const stopped = await this.attempt(async () => {
      const reply = await this.transport.cancel(sessionId);
      this.update(sessionId, now => ({ ...now, stillRunning: reply.still_running }));
      this.transport.wake(sessionId);
    });
    if (!stopped) {
      this.update(sessionId, now => ({ ...now, stop: 'none' }));
    }
  }

  /** Answer an approval. False: not taken, see `problem`; the question then still waits. */
  async decide(approvalId: string, answer: Partial<Decision> & Pick<Decision, 'decision'>) {
    const sessionId = this.state.session?.sessionId;
    if (!sessionId) {
      return false;
    }
    this.update(sessionId, view => withDecision(view, approvalId, answer.decision));
    const taken = await this.attempt(async () => {
      await this.transport.decide(sessionId, approvalId, { ...decisionDefaults, ...answer });
      this.transport.wake(sessionId);
    });
    if (!taken) {
      this.update(sessionId, view => withDecision(view, approvalId, null));
    }
    return taken;
  }

  /** Answer a question; null: the user will not. False: not taken, and the question still waits. */
  async answer(questionId: string, answer: string | null): Promise<boolean> {
    const sessionId = this.state.session?.sessionId;
    if (!sessionId) {
      return false;
    }
    this.update(sessionId, view => withAnswering(view, questionId, true));
    const taken = await this.attempt(async () => {
      await this.transport.answer(sessionId, questionId, answer);
      this.transport.wake(sessionId);
    });
    if (!taken) {
      this.update(sessionId, view => withAnswering(view, questionId, false));
    }
    return taken;
  }

  /** Something happened on the server; an empty id means "in some session". */
  wake(sessionId: string): void {
    const current = this.state.session?.sessionId;
    if (current && (sessionId === current || sessionId === '')) {
      this.transport.wake(current);
    }
    if (this.state.sessions) {
      void this.refreshSessions();
    }
  }

  dismissProblem(): void {
    const view = this.state.session;
    this.set({ problem: null, session: view && { ...view, problem: null } });
  }

  /** Two prompts sent at once share the session that the first of them makes. */
  private sessionFor(prompt: Prompt): Promise<string> {
    this.creating ??= this.createSession(prompt).finally(() => {
      this.creating = null;
    });
    return this.creating;
  }

  private async createSession(prompt: Prompt): Promise<string> {
    const path = prompt.context.path;
    const sessionId = await this.transport.createSession({
      title: null,
      notebook_path: path?.endsWith('.ipynb') ? path : null
    });
    this.openSession(sessionId);
    return sessionId;
  }

  private follow(sessionId: string): void {
    const after = this.state.session?.transcript.last_seq ?? 0;
    this.subscription = this.transport.subscribe(sessionId, after, {
      onEvents: events => this.fold(sessionId, events),
      onConnection: connection =>
        this.update(sessionId, view => ({
          ...view,
          connection,
          load: connection === 'idle' && view.load === 'loading' ? 'ready' : view.load
        })),
      onFailed: error => this.lose(sessionId, errorInfo(error))
    });
  }

  private fold(sessionId: string, events: readonly AnyEvent[]): void {
    const view = this.state.session;
    if (view?.sessionId !== sessionId) {
      return;
    }
    const news = [...this.held, ...events];
    const session = withEvents(view, news);
    const pace = paceOf(events, { before: view, after: session });
    this.held = pace === 'held' ? news : [];
    if (pace === 'held') {
      return;
    }
    this.state = { ...this.state, session };
    if (pace === 'now') {
      this.publisher.publish(this.state);
    } else {
      this.publisher.publishSoon(this.state);
    }
  }

  /** The session cannot be read: forget it as the last one, and say so. */
  private lose(sessionId: string, problem: ErrorInfo): void {
    if (problem.code === 'not_found') {
      this.memory.set(MEMORY_KEY, null);
    }
    this.update(sessionId, view => ({ ...view, load: 'failed', problem }));
  }

  private leave(): void {
    this.subscription?.close();
    this.subscription = null;
    this.held = [];
    const view = this.state.session;
    if (view) {
      this.left.delete(view.sessionId);
      this.left.set(view.sessionId, { ...view, connection: 'idle', problem: null });
      const [oldest] = this.left.keys();
      if (oldest !== undefined && this.left.size > KEPT_VIEWS) {
        this.left.delete(oldest);
      }
    }
  }

  /** Run an act; a failure becomes the visible problem. */
  private async attempt(act: () => Promise<void>): Promise<boolean> {
    if (this.state.problem || this.state.session?.problem) {
      this.dismissProblem();
    }
    try {
      await act();
      return true;
    } catch (error) {
      const problem = errorInfo(error);
      const view = this.state.session;
      this.set(view ? { session: { ...view, problem } } : { problem });
      return false;
    }
  }

  private show(session: SessionView): void {
    this.set({ session, problem: null });
  }

  private update(sessionId: string, change: (view: SessionView) => SessionView): void {
    const view = this.state.session;
    if (view?.sessionId === sessionId) {
      this.set({ session: change(view) });
    }
  }

  private set(change: Partial<StoreState>): void {
    this.state = { ...this.state, ...change };
    this.publisher.publish(this.state);
  }

  private creating: Promise<string> | null = null;
  private state: StoreState = { sessions: null, providers: null, session: null, problem: null };
  private readonly publisher = new Publisher<StoreState>(this.state);
  private readonly turnIds = new TurnIds();
  /** Events that are shown with the next ones; not folded yet. */
  private held: readonly AnyEvent[] = [];
  private readonly left = new Map<string, SessionView>();
  private subscription: Subscription | null = null;
}

const turnDefaults: Pick<StartTurn, 'attachments' | 'provider' | 'model' | 'effort'> = {
  attachments: [],
  provider: null,
  model: null,
  effort: null
};

const decisionDefaults: Omit<Decision, 'decision'> = {
  scope: 'once',
  comment: '',
  digest: null,
  edited_content: null
};
