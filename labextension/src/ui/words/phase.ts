/** What a running turn does now, in words. Pure. */
import type { SessionView } from '../../model/session-view';
import type { ToolBlock, Transcript, TurnView } from '../../protocol/types';
import { plain } from './parts';
import { questionTitle } from './question';
import { callOf, runPhrase } from './runs';
import { toolPhrase, type Words } from './tool-phrase';

/** "Waiting for the model", "Running cell 4", "Waiting for you". Without an age. */
export function phaseWords(words: Words, turn: TurnView): string {
  const { t } = words;
  const phase = turn.phase;
  switch (phase?.name) {
    case undefined:
      return '';
    case 'model':
      return t('Waiting for the model');
    case 'thinking':
      return t('Thinking');
    case 'writing': {
      const block = lastOpenTool(turn);
      return block ? t('Preparing: %1', plain(toolPhrase(words, block))) : t('Writing');
    }
    case 'tool': {
      const block = lastOpenTool(turn);
      return block ? plain(toolPhrase(words, block)) : t('Waiting for the model');
    }
    case 'approval':
      return t('Waiting for you');
    case 'question':
      return t('Waiting for your answer');
    case 'retrying':
      return t('Retrying');
  }
}

function lastOpenTool(turn: TurnView): ToolBlock | null {
  const open = turn.blocks.filter(
    (block): block is ToolBlock =>
      block.type === 'tool' && (block.state === 'running' || block.state === 'requested')
  );
  return open.find(block => block.state === 'running') ?? open[open.length - 1] ?? null;
}

/** What a screen reader is told: phase changes, questions and ends; never tokens. */
export function announcement(words: Words, view: SessionView | null): string {
  const { t } = words;
  const turn = view?.transcript.turns[view.transcript.turns.length - 1];
  if (view?.problem) {
    return view.problem.message;
  }
  if (view?.connection === 'reconnecting') {
    return t('Connection lost, reconnecting');
  }
  if (view?.sending) {
    return t('Sending');
  }
  if (!view || !turn) {
    return '';
  }
  if (view.stop === 'stopping' && turn.state === 'running') {
    return t('Stopping');
  }
  if (turn.phase?.name === 'approval') {
    return t('Vitto asks: %1', waitingTitle(turn));
  }
  const [question] = view.transcript.questions;
  if (question) {
    return plain([...questionTitle(words, view.transcript, question), ': ', question.prompt]);
  }
  if (turn.phase?.name === 'writing') {
    return t('Writing');
  }
  return turn.state === 'running' ? phaseWords(words, turn) : restWords(words, view.transcript, turn);
}

/** After a turn: its end, then that of each run that went on without it. */
function restWords(words: Words, transcript: Transcript, turn: TurnView): string {
  const ended = transcript.runs.filter(run => run.finished_at !== null);
  const last = ended[ended.length - 1];
  return last
    ? plain(runPhrase(words, last, callOf(transcript, last.tool_call_id)))
    : endWords(words, turn);
}

function waitingTitle(turn: TurnView): string {
  const waiting = turn.blocks.find(block => block.type === 'tool' && block.state === 'waiting');
  return waiting?.type === 'tool' ? (waiting.approval?.title ?? '') : '';
}

/** How a turn ended. */
export function endWords(words: Words, turn: TurnView): string {
  const { t } = words;
  switch (turn.state) {
    case 'running':
      return '';
    case 'done':
      return t('Done');
    case 'cancelled':
      return t('Stopped');
    case 'limit':
      return t('Stopped at a limit');
    case 'error':
      return turn.error ? t('Failed: %1', turn.error.message) : t('Failed');
  }
}
