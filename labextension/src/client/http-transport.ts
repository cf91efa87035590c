/** The real transport: HTTP and server-sent events below `vitto/api/`. */
import type {
  AnswerQuestion,
  CancelReply,
  CreateSession,
  Decision,
  HostAnswer,
  HostCall,
  HostCallsReply,
  ProvidersReply,
  RegisterHost,
  SessionCreatedReply,
  SessionInfo,
  StartTurn,
  TurnStartedReply,
  WorkspaceContext
} from '../protocol/types';
import { Follower } from './follower';
import { requestJson, type Fetcher } from './requests';
import { mayHaveArrived, type Subscriber, type Subscription, type Transport } from './transport';

/** Waits before a repeat of a request that is safe to repeat. */
const REPEAT_AFTER_MS = [300, 1500];

/**
 * The server validates what it sends against the same models that the types are generated
 * from; here its JSON is taken at its word.
 */
export class HttpTransport implements Transport {
  constructor(private readonly fetcher: Fetcher) {}

  async listSessions(): Promise<readonly SessionInfo[]> {
    return (await this.json('GET', 'sessions')) as SessionInfo[];
  }

  async createSession(body: CreateSession): Promise<string> {
    return ((await this.json('POST', 'sessions', body)) as SessionCreatedReply).session_id;
  }

  async renameSession(sessionId: string, title: string): Promise<SessionInfo> {
    return (await this.json('PATCH', `sessions/${sessionId}`, { title })) as SessionInfo;
  }

  async deleteSession(sessionId: string): Promise<void> {
    await this.json('DELETE', `sessions/${sessionId}`);
  }

  /** Repeated on a network fault when `body` has a turn id, which makes that safe. */
  async startTurn(sessionId: string, body: StartTurn): Promise<string> {
    const repeats = body.turn_id === null ? [] : REPEAT_AFTER_MS;
    const start = () => this.json('POST', `sessions/${sessionId}/turns`, body);
    return ((await repeated(start, repeats)) as TurnStartedReply).turn_id;
  }

  async cancel(sessionId: string): Promise<CancelReply> {
    return (await this.json('POST', `sessions/${sessionId}/cancel`, {})) as CancelReply;
  }

  async decide(sessionId: string, approvalId: string, decision: Decision): Promise<void> {
    await this.json('PUT', `sessions/${sessionId}/approvals/${approvalId}`, decision);
  }

  async answer(sessionId: string, questionId: string, answer: string | null): Promise<void> {
    const body: AnswerQuestion = { answer };
    const put = () => this.json('PUT', `sessions/${sessionId}/questions/${questionId}`, body);
    await repeated(put, REPEAT_AFTER_MS);
  }

  async providers(): Promise<ProvidersReply> {
    return (await this.json('GET', 'providers')) as ProvidersReply;
  }

  async context(path: string | null): Promise<WorkspaceContext> {
    const query = path === null ? '' : `?path=${encodeURIComponent(path)}`;
    return (await this.json('GET', `context${query}`)) as WorkspaceContext;
  }

  subscribe(sessionId: string, after: number, subscriber: Subscriber): Subscription {
    const follower = new Follower(this.fetcher, sessionId, after, subscriber);
    const entry = { sessionId, follower };
    this.followers.add(entry);
    return {
      close: () => {
        this.followers.delete(entry);
        follower.close();
      }
    };
  }

  wake(sessionId: string): void {
    for (const entry of this.followers) {
      if (entry.sessionId === sessionId) {
        entry.follower.wake();
      }
    }
  }

  /** `closing` is sent so that it survives the end of the page. */
  async registerHost(hostId: string, body: RegisterHost): Promise<void> {
    await this.json('PUT', `hosts/${hostId}`, body, body.closing ? { keepalive: true } : {});
  }

  async hostCalls(hostId: string): Promise<readonly HostCall[]> {
    return ((await this.json('GET', `hosts/${hostId}/calls`)) as HostCallsReply).calls;
  }

  async answerHostCall(hostId: string, callId: string, answer: HostAnswer): Promise<void> {
    await this.json('PUT', `hosts/${hostId}/calls/${callId}`, answer);
  }

  private json(method: string, path: string, body?: unknown, init?: RequestInit) {
    return requestJson(this.fetcher, method, path, body, init);
  }

  private readonly followers = new Set<{ sessionId: string; follower: Follower }>();
}

/** Try again after network faults and gateway errors; other refusals are final. */
async function repeated<T>(act: () => Promise<T>, delays: readonly number[]): Promise<T> {
  const [delay, ...rest] = delays;
  try {
    return await act();
  } catch (error) {
    if (delay === undefined || !mayHaveArrived(error)) {
      throw error;
    }
  }
  await new Promise(resolve => setTimeout(resolve, delay));
  return repeated(act, rest);
}
