/**
 * One session as the UI draws it: the transcript plus what is under way and not yet told by
 * an event. Pure functions of values; `store.ts` holds the current one.
 */
import type { ConnectionState } from '../client/transport';
import type {
  AnyEvent,
  ErrorInfo,
  StartTurn,
  ToolBlock,
  Transcript,
  TurnView
} from '../protocol/types';
import { emptyTranscript, foldAll } from './reducer';
import { hasTurn } from './turn-ids';

export type DecisionKind = 'approve' | 'reject';

/** A prompt on its way to the server. */
export type SendingTurn = Pick<StartTurn, 'prompt' | 'context' | 'mode'> & {
  readonly turn_id: string;
};

export interface SessionView {
  readonly sessionId: string;
  readonly transcript: Transcript;
  /** "loading" until the trail has begun to arrive. */
  readonly load: 'loading' | 'ready' | 'failed';
  readonly connection: ConnectionState;
  /** Shown until its `turn.started` is there. */
  readonly sending: SendingTurn | null;
  /** Answers on their way, by approval id. */
  readonly deciding: Readonly<Record<string, DecisionKind>>;
  /** Ids of questions whose answers are on their way; the answers themselves are kept nowhere. */
  readonly answering: readonly string[];
  /** Whether Stop was pressed for the running turn. */
  readonly stop: 'none' | 'stopping';
  /** What went on after the last stop, e.g. a busy kernel; paths of notebooks or names. */
  readonly stillRunning: readonly string[];
  /** The last act that failed, until the next one. */
  readonly problem: ErrorInfo | null;
}

export function newView(sessionId: string): SessionView {
  return {
    sessionId,
    transcript: emptyTranscript(sessionId),
    load: 'loading',
    connection: 'idle',
    sending: null,
    deciding: {},
    answering: [],
    stop: 'none',
    stillRunning: [],
    problem: null
  };
}

/** The turn that runs now, or null. */
export function runningTurn(transcript: Transcript): TurnView | null {
  const last = transcript.turns[transcript.turns.length - 1];
  return last && last.state === 'running' ? last : null;
}

/** Tool calls that wait for the user, oldest first. */
export function waitingCalls(transcript: Transcript): readonly ToolBlock[] {
  const blocks = runningTurn(transcript)?.blocks ?? [];
  return blocks.filter(
    (block): block is ToolBlock =>
      block.type === 'tool' &&
      block.state === 'waiting' &&
      block.approval !== null &&
      block.approval.decision === null
  );
}

/** Fold events; what was under way and is now told by an event is dropped. */
export function withEvents(view: SessionView, events: readonly AnyEvent[]): SessionView {
  const transcript = foldAll(view.transcript, events);
  if (transcript === view.transcript) {
    return view.load === 'ready' ? view : { ...view, load: 'ready' };
  }
  const running = runningTurn(transcript);
  const started = events.some(event => event.type === 'turn.started');
  return {
    ...view,
    transcript,
    load: 'ready',
    sending: hasTurn(transcript, view.sending?.turn_id) ? null : view.sending,
    deciding: stillDeciding(transcript, view.deciding),
    answering: stillAnswering(transcript, view.answering),
    stop: running ? view.stop : 'none',
    stillRunning: started && view.stillRunning.length ? [] : view.stillRunning
  };
}

function stillDeciding(
  transcript: Transcript,
  deciding: Readonly<Record<string, DecisionKind>>
): Readonly<Record<string, DecisionKind>> {
  const ids = Object.keys(deciding);
  if (ids.length === 0) {
    return deciding;
  }
  const waiting = new Set(waitingCalls(transcript).map(block => block.approval?.approval_id));
  const kept = Object.entries(deciding).filter(([id]) => waiting.has(id));
  return kept.length === ids.length ? deciding : Object.fromEntries(kept);
}

function stillAnswering(
  { questions }: Transcript,
  answering: readonly string[]
): readonly string[] {
  const kept = answering.filter(id => questions.some(question => question.question_id === id));
  return kept.length === answering.length ? answering : kept;
}

export function withAnswering(view: SessionView, questionId: string, on: boolean): SessionView {
  const others = view.answering.filter(id => id !== questionId);
  return { ...view, answering: on ? [...others, questionId] : others };
}

export function withDecision(
  view: SessionView,
  approvalId: string,
  decision: DecisionKind | null
): SessionView {
  const { [approvalId]: _, ...others } = view.deciding;
  return { ...view, deciding: decision ? { ...others, [approvalId]: decision } : others };
}
