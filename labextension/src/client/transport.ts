/**
 * How a UI talks to the server. `HttpTransport` is the real one; `ReplayTransport` (tests,
 * demos) plays a trail. The UI never calls fetch itself.
 */
import type {
  AnyEvent,
  CancelReply,
  CreateSession,
  Decision,
  HostAnswer,
  HostCall,
  ProvidersReply,
  RegisterHost,
  SessionInfo,
  StartTurn,
  WorkspaceContext
} from '../protocol/types';

/** An error answer of the server, or a failure to reach it (`status` 0, code "unreachable"). */
export class TransportError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint: string
  ) {
    super(message);
    this.name = 'TransportError';
  }
}

/** Network faults and gateway errors: the server may or may not have the request. */
export function mayHaveArrived(error: unknown): boolean {
  return error instanceof TransportError && [0, 502, 503, 504].includes(error.status);
}

export type ConnectionState = 'idle' | 'live' | 'reconnecting';

export interface Subscription {
  close(): void;
}

export interface Subscriber {
  /** Events in order, each once; batches keep one render per frame possible. */
  onEvents(events: readonly AnyEvent[]): void;
  onConnection(state: ConnectionState): void;
  /** The stream cannot be had, e.g. the session is gone; nothing more will come. */
  onFailed(error: TransportError): void;
}

export interface Transport {
  listSessions(): Promise<readonly SessionInfo[]>;
  createSession(body: CreateSession): Promise<string>;
  renameSession(sessionId: string, title: string): Promise<SessionInfo>;
  deleteSession(sessionId: string): Promise<void>;
  startTurn(sessionId: string, body: StartTurn): Promise<string>;
  cancel(sessionId: string): Promise<CancelReply>;
  decide(sessionId: string, approvalId: string, decision: Decision): Promise<void>;
  /** Answer a question; null: the user will not. Safe to repeat. */
  answer(sessionId: string, questionId: string, answer: string | null): Promise<void>;
  providers(): Promise<ProvidersReply>;
  context(path: string | null): Promise<WorkspaceContext>;
  /**
   * Events after `after`: first what the trail holds, then live while a turn runs. The stream
   * is closed when no turn runs (an idle page holds no connection) and opened again by
   * `wake`; a lost connection is retried by itself and resumes after the last event seen.
   */
  subscribe(sessionId: string, after: number, subscriber: Subscriber): Subscription;
  /** Something happened in the session (wake-up over the event bus, or our own turn). */
  wake(sessionId: string): void;
  registerHost(hostId: string, body: RegisterHost): Promise<void>;
  hostCalls(hostId: string): Promise<readonly HostCall[]>;
  answerHostCall(hostId: string, callId: string, answer: HostAnswer): Promise<void>;
}
