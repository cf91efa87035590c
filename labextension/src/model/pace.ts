/** When news of a session is drawn. Pure. */
import type { AnyEvent } from '../protocol/types';
import { runningTurn, type SessionView } from './session-view';

/** `held`: with the next news that a reader waits for. */
export type Pace = 'now' | 'soon' | 'held';

/** Above this a batch is a replay: drawn in steps, not at each chunk. */
const REPLAY_EVENTS = 32;

/**
 * Phase changes, approvals, ends and the begin of a text are drawn at once, more of the text
 * soon. After Stop was pressed the text stands still until the turn has ended.
 */
export function paceOf(
  events: readonly AnyEvent[],
  { before, after }: { readonly before: SessionView; readonly after: SessionView }
): Pace {
  if (events.length > REPLAY_EVENTS) {
    return 'soon';
  }
  const isMore = events.every(({ type }) => type.endsWith('delta') || type === 'tool.progress');
  if (!isMore) {
    return 'now';
  }
  if (after.stop === 'stopping' && events.every(({ type }) => type !== 'tool.progress')) {
    return 'held';
  }
  return blocks(after) > blocks(before) ? 'now' : 'soon';
}

function blocks(view: SessionView): number {
  return runningTurn(view.transcript)?.blocks.length ?? 0;
}
