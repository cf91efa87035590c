/**
 * Follows the events of one session: replays, then live while a turn runs. Owns the
 * connection: it ends when nothing runs, comes back on `wake`, and resumes by itself after a
 * fault. Every event is delivered once and in order, whatever the connection does.
 */
import { isEnvelope, isEvent } from '../model/guards';
import type { AnyEvent } from '../protocol/types';
import { request, type Fetcher } from './requests';
import { SseParser } from './sse';
import { TransportError, type Subscriber, type Subscription } from './transport';

/** The server writes at least a comment each 15 s: three missed mean a dead connection. */
const SILENCE_MS = 50_000;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;
/** Ends without news while a turn should run, before the server is believed that none does. */
const EMPTY_ENDS = 3;

export class Follower implements Subscription {
  constructor(
    private readonly fetcher: Fetcher,
    private readonly sessionId: string,
    private last: number,
    private readonly subscriber: Subscriber
  ) {
    void this.run();
  }

  close(): void {
    this.closed = true;
    this.connection?.abort();
    this.wakeUp?.();
  }

  /** Look again now: opens an ended stream, and cuts a waiting time short. */
  wake(): void {
    this.isWoken = true;
    this.wakeUp?.();
  }

  private async run(): Promise<void> {
    let failures = 0;
    while (!this.closed) {
      const before = this.last;
      this.isWoken = false;
      const fault = await this.read();
      if (this.closed) {
        return;
      }
      if (fault && isFinal(fault)) {
        this.subscriber.onFailed(fault);
        return;
      }
      failures = this.last > before ? 0 : failures;
      if (!fault && (!this.isTurnRunning || failures >= EMPTY_ENDS)) {
        failures = 0;
        await this.idle();
      } else {
        failures += 1;
        this.subscriber.onConnection('reconnecting');
        await this.pause(backOff(failures));
      }
    }
  }

  /** Read one connection to its end. */
  private async read(): Promise<TransportError | null> {
    this.connection = new AbortController();
    const { signal } = this.connection;
    const query = `after=${this.last}&idle=close`;
    try {
      const response = await request(this.fetcher, `sessions/${this.sessionId}/events?${query}`, {
        headers: { Accept: 'text/event-stream' },
        signal
      });
      this.subscriber.onConnection('live');
      await this.pump(response, this.connection);
      return null;
    } catch (error) {
      this.connection.abort();
      return error instanceof TransportError ? error : lost(error);
    }
  }

  private async pump(response: Response, connection: AbortController): Promise<void> {
    const reader = response.body?.getReader();
    if (!reader) {
      return;
    }
    const decoder = new TextDecoder();
    const parser = new SseParser();
    for (;;) {
      const silence = setTimeout(() => connection.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done || this.closed) {
        return;
      }
      const messages = parser.feed(decoder.decode(value, { stream: true }));
      this.deliver(messages.map(({ data }) => data));
    }
  }

  /** Hand over what is new; a gap is a fault, so that the next connection asks again. */
  private deliver(texts: readonly string[]): void {
    const news: AnyEvent[] = [];
    let gap = false;
    for (const text of texts) {
      const value: unknown = JSON.parse(text);
      if (!isEnvelope(value) || value.seq <= this.last) {
        continue;
      }
      gap = value.seq > this.last + 1;
      if (gap) {
        break;
      }
      this.last = value.seq;
      if (isEvent(value)) {
        news.push(value);
      }
    }
    if (news.length > 0) {
      this.isTurnRunning = runsAfter(news, this.isTurnRunning);
      this.subscriber.onEvents(news);
    }
    if (gap) {
      throw lost(new Error(`event ${this.last + 1} is missing`));
    }
  }

  private async idle(): Promise<void> {
    this.subscriber.onConnection('idle');
    await this.pause(null);
  }

  /** Wait for `ms` (null: without end), for `wake` or for `close`. */
  private async pause(ms: number | null): Promise<void> {
    if (this.isWoken || this.closed) {
      return;
    }
    await new Promise<void>(resolve => {
      const timer = ms === null ? undefined : setTimeout(resolve, ms);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = null;
  }

  private closed = false;
  private isWoken = false;
  private isTurnRunning = false;
  private connection: AbortController | null = null;
  private wakeUp: (() => void) | null = null;
}

function runsAfter(events: readonly AnyEvent[], before: boolean): boolean {
  return events.reduce(
    (runs, { type }) => (type === 'turn.started' ? true : type === 'turn.finished' ? false : runs),
    before
  );
}

/** Refusals that trying again does not mend. */
function isFinal({ status }: TransportError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

/** Grows to 15 s; spread, so that many pages do not come back in the same instant. */
function backOff(failures: number): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS);
  return delay * (0.75 + Math.random() / 2);
}

function lost(error: unknown): TransportError {
  const message = error instanceof Error ? error.message : String(error);
  return new TransportError(0, 'connection_lost', `The event stream broke off (${message}).`, '');
}
