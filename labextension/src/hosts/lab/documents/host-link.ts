/**
 * Lends this page's open documents to the server: says which there are, fetches what it asks
 * for, does each once, and answers. Knows no document itself: `Desk` does the work.
 */
import { TransportError, type Transport } from '../../../client/transport';
import type { HostAnswer, HostCall, RegisterHost } from '../../../protocol/types';

/** What the link needs of the page. */
export interface Desk {
  registration(): RegisterHost;
  answer(call: HostCall): Promise<HostAnswer>;
  /** The server knows of this page now, and did not before. */
  registered(): void;
  /** The server does not know this page any more. */
  forgotten(): void;
}

/** Joins the changes of a moment; longer than a linter needs after a key press. */
const PACE_MS = 700;
const RETRY_MS = 5_000;
const LOOK_AGAIN_MS = 500;
const ANSWER_AGAIN_MS = [500, 2_000, 5_000];
/** Answers are kept to be sent again when the server did not get them. */
const KEPT_ANSWERS = 500;

export class HostLink {
  constructor(
    readonly hostId: string,
    private readonly transport: Transport,
    private readonly desk: Desk
  ) {}

  /** Documents may have changed; registers when they did, soon. */
  documentsChanged(): void {
    const wait = this.isRegistered ? PACE_MS : 0;
    this.timer ??= setTimeout(() => {
      this.timer = null;
      void this.register();
    }, wait);
  }

  /** The server asks for a page: when it is this one, look what it wants. */
  wake(hostId: string): void {
    if (hostId === this.hostId) {
      void this.fetchCalls();
    }
  }

  /**
   * Look whether the server still knows this page, e.g. after it was started anew. In a while:
   * a turn that begins has more urgent things to ask.
   */
  lookAgain(): void {
    this.looking ??= setTimeout(() => {
      this.looking = null;
      void this.look();
    }, LOOK_AGAIN_MS);
  }

  /** The page goes away: its documents are not ours to edit any more. */
  close(): void {
    if (this.isRegistered) {
      this.registered = '';
      const last = { ...this.desk.registration(), documents: [], diagnostics: [], closing: true };
      this.transport.registerHost(this.hostId, last).catch(() => undefined);
    }
  }

  private async look(): Promise<void> {
    await this.register();
    if (this.isRegistered) {
      await this.fetchCalls();
    }
  }

  private get isRegistered(): boolean {
    return this.registered !== '';
  }

  /** One after the other: an older list must not arrive after a newer one. */
  private register(): Promise<void> {
    this.registering = this.registering.then(() => this.registerNow());
    return this.registering;
  }

  private async registerNow(): Promise<void> {
    const body = this.desk.registration();
    const text = JSON.stringify(body);
    if (text === this.registered || (body.documents.length === 0 && !this.isRegistered)) {
      return;
    }
    try {
      await this.transport.registerHost(this.hostId, body);
      const isNew = !this.isRegistered;
      this.registered = text;
      if (isNew) {
        this.desk.registered();
      }
    } catch (error) {
      if (mayPass(error)) {
        setTimeout(() => this.documentsChanged(), RETRY_MS);
      }
    }
  }

  /** One at a time; a wake-up during it makes another, so that no call is overlooked. */
  private async fetchCalls(): Promise<void> {
    if (this.fetching !== 'no') {
      this.fetching = 'again';
      return;
    }
    do {
      this.fetching = 'now';
      await this.fetchOnce();
    } while (this.wantsAgain());
    this.fetching = 'no';
  }

  private wantsAgain(): boolean {
    return this.fetching === 'again';
  }

  /**
   * A server that was started anew does not know us: it is told, and asked once more. When it
   * still does not, the next wake-up begins again.
   */
  private async fetchOnce(isRepeat = false): Promise<void> {
    try {
      const calls = await this.transport.hostCalls(this.hostId);
      calls.forEach(call => void this.handle(call));
    } catch (error) {
      if (!isRepeat && error instanceof TransportError && error.status === 404) {
        this.registered = '';
        this.desk.forgotten();
        await this.register();
        if (this.isRegistered) {
          await this.fetchOnce(true);
        }
      }
    }
  }

  /** Do the call, unless it was done; a call that comes again gets the same answer again. */
  private async handle(call: HostCall): Promise<void> {
    const known = this.answers.get(call.call_id);
    const answer = known ?? this.inTurn(call);
    if (!known) {
      this.remember(call.call_id, answer);
    }
    await this.send(call.call_id, await answer, ANSWER_AGAIN_MS);
  }

  /** When all tries fail, the server asks again if it still wants to know. */
  private async send(callId: string, answer: HostAnswer, delays: readonly number[]): Promise<void> {
    const [delay, ...rest] = delays;
    try {
      await this.transport.answerHostCall(this.hostId, callId, answer);
    } catch (error) {
      if (delay !== undefined && mayPass(error)) {
        await new Promise(resolve => setTimeout(resolve, delay));
        await this.send(callId, answer, rest);
      }
    }
  }

  /** Calls for the same document are done in the order they came. */
  private inTurn(call: HostCall): Promise<HostAnswer> {
    const path = String(call.params['path'] ?? '');
    const before = this.queues.get(path) ?? Promise.resolve();
    const answer = before.then(() => this.desk.answer(call));
    this.queues.set(path, answer);
    return answer;
  }

  private remember(callId: string, answer: Promise<HostAnswer>): void {
    this.answers.set(callId, answer);
    const [oldest] = this.answers.keys();
    if (oldest !== undefined && this.answers.size > KEPT_ANSWERS) {
      this.answers.delete(oldest);
    }
  }

  private registered = '';
  private registering: Promise<void> = Promise.resolve();
  private fetching: 'no' | 'now' | 'again' = 'no';
  private timer: ReturnType<typeof setTimeout> | null = null;
  private looking: ReturnType<typeof setTimeout> | null = null;
  private readonly answers = new Map<string, Promise<HostAnswer>>();
  private readonly queues = new Map<string, Promise<unknown>>();
}

/** Faults that another try may mend; a refusal stays one. */
function mayPass(error: unknown): boolean {
  return error instanceof TransportError && (error.status === 0 || error.status >= 500);
}
