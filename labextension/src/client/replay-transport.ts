/**
 * Plays recorded trails: for tests and demonstrations of the UI. Acts that need a server are
 * kept in `calls`, so that a test can see what the UI asked for.
 */
import type {
  AnyEvent,
  CancelReply,
  CreateSession,
  Decision,
  HostCall,
  ProvidersReply,
  SessionInfo,
  StartTurn,
  WorkspaceContext
} from '../protocol/types';
import { TransportError, type Subscriber, type Subscription, type Transport } from './transport';

export interface ReplayCall {
  readonly method: keyof Transport;
  readonly args: readonly unknown[];
}

export class ReplayTransport implements Transport {
  /** `trails`: events by session id. A session without one starts empty. */
  constructor(trails: Readonly<Record<string, readonly AnyEvent[]>> = {}) {
    for (const [sessionId, events] of Object.entries(trails)) {
      this.trails.set(sessionId, [...events]);
    }
  }

  readonly calls: ReplayCall[] = [];
  sessions: readonly SessionInfo[] = [];
  providersReply: ProvidersReply = { providers: [], provider: '', model: '', effort: null };
  workspace: WorkspaceContext = {
    root: '',
    path: null,
    notebook: null,
    git_branch: null,
    problems: 0,
    diagnostics: []
  };
  cancelReply: CancelReply = { cancelled: true, still_running: [] };
  /** When set, every act that changes something is refused with this. */
  refusal: TransportError | null = null;

  /** Append events to a session's trail and show them to its subscribers. */
  play(sessionId: string, events: readonly AnyEvent[]): void {
    this.trailOf(sessionId).push(...events);
    this.subscribers
      .filter(entry => entry.sessionId === sessionId)
      .forEach(({ subscriber }) => subscriber.onEvents(events));
  }

  async listSessions(): Promise<readonly SessionInfo[]> {
    return this.sessions;
  }

  async createSession(body: CreateSession): Promise<string> {
    this.act('createSession', [body]);
    return `ses_${this.trails.size + 1}`;
  }

  async renameSession(sessionId: string, title: string): Promise<SessionInfo> {
    this.act('renameSession', [sessionId, title]);
    const found = this.sessions.find(session => session.session_id === sessionId);
    if (!found) {
      throw new TransportError(404, 'not_found', 'There is no such session.', '');
    }
    return { ...found, title };
  }

  async deleteSession(sessionId: string): Promise<void> {
    this.act('deleteSession', [sessionId]);
    this.sessions = this.sessions.filter(session => session.session_id !== sessionId);
  }

  async startTurn(sessionId: string, body: StartTurn): Promise<string> {
    this.act('startTurn', [sessionId, body]);
    return body.turn_id ?? 'turn_replayed';
  }

  async cancel(sessionId: string): Promise<CancelReply> {
    this.act('cancel', [sessionId]);
    return this.cancelReply;
  }

  async decide(sessionId: string, approvalId: string, decision: Decision): Promise<void> {
    this.act('decide', [sessionId, approvalId, decision]);
  }

  async answer(sessionId: string, questionId: string, answer: string | null): Promise<void> {
    this.act('answer', [sessionId, questionId, answer]);
  }

  async providers(): Promise<ProvidersReply> {
    return this.providersReply;
  }

  async context(): Promise<WorkspaceContext> {
    return this.workspace;
  }

  subscribe(sessionId: string, after: number, subscriber: Subscriber): Subscription {
    const entry = { sessionId, subscriber };
    this.subscribers.push(entry);
    queueMicrotask(() => {
      if (this.subscribers.includes(entry)) {
        subscriber.onConnection('live');
        subscriber.onEvents(this.trailOf(sessionId).filter(event => event.seq > after));
      }
    });
    return {
      close: () => {
        this.subscribers = this.subscribers.filter(other => other !== entry);
      }
    };
  }

  wake(sessionId: string): void {
    this.calls.push({ method: 'wake', args: [sessionId] });
  }

  async registerHost(...args: Parameters<Transport['registerHost']>): Promise<void> {
    this.act('registerHost', args);
  }

  async hostCalls(): Promise<readonly HostCall[]> {
    return [];
  }

  async answerHostCall(...args: Parameters<Transport['answerHostCall']>): Promise<void> {
    this.act('answerHostCall', args);
  }

  private act(method: keyof Transport, args: readonly unknown[]): void {
    this.calls.push({ method, args });
    if (this.refusal) {
      throw this.refusal;
    }
  }

  private trailOf(sessionId: string): AnyEvent[] {
    const trail = this.trails.get(sessionId) ?? [];
    this.trails.set(sessionId, trail);
    return trail;
  }

  private readonly trails = new Map<string, AnyEvent[]>();
  private subscribers: { sessionId: string; subscriber: Subscriber }[] = [];
}
