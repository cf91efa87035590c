/**
 * The fold: events to transcript. Pure; the Python twin is protocol/fold.py, and golden
 * trails hold both to the same result. What an event does not touch keeps its identity, so
 * that finished blocks are never drawn again.
 */
import { assertNever } from '../protocol/assert-never';
import type {
  AnyEvent,
  ApprovalRequested,
  ApprovalResolved,
  ApprovalState,
  Notice,
  Phase,
  QuestionAsked,
  QuestionClosed,
  RunDetached,
  TextDelta,
  ThinkingDelta,
  ToolBlock,
  ToolFinished,
  ToolInputDelta,
  ToolRequested,
  Transcript,
  TurnFinished,
  TurnStarted,
  TurnView
} from '../protocol/types';

export const PROGRESS_CHARS = 20_000;

type Blocks = TurnView['blocks'];
type TurnEvent = Exclude<AnyEvent, { type: 'session.created' | 'session.renamed' | 'turn.started' }>;

export function emptyTranscript(sessionId: string): Transcript {
  return { session_id: sessionId, title: '', notebook_path: null, last_seq: 0, turns: [], questions: [], runs: [] };
}

export function foldAll(transcript: Transcript, events: readonly AnyEvent[]): Transcript {
  return events.reduce(fold, transcript);
}

/** The transcript after `event`; unchanged when the event was already folded. */
export function fold(transcript: Transcript, event: AnyEvent): Transcript {
  if (event.seq <= transcript.last_seq) {
    return transcript;
  }
  const next = { ...transcript, last_seq: event.seq };
  switch (event.type) {
    case 'session.created':
      return { ...next, title: event.title, notebook_path: event.notebook_path };
    case 'session.renamed':
      return { ...next, title: event.title };
    case 'turn.started':
      return {
        ...next,
        turns: [...transcript.turns, newTurn(event)],
        runs: transcript.runs.filter(run => run.finished_at === null)
      };
    default:
      return { ...besideTurns(next, event), turns: foldInto(transcript.turns, event) };
  }
}

/** Questions and detached runs may outlive the turn that they came from. */
function besideTurns(transcript: Transcript, event: TurnEvent): Transcript {
  const { questions, runs } = transcript;
  switch (event.type) {
    case 'question.asked':
      return { ...transcript, questions: [...questions, questionOf(event)] };
    case 'question.closed':
      return {
        ...transcript,
        questions: questions.filter(({ question_id }) => question_id !== event.question_id)
      };
    case 'run.detached':
      return { ...transcript, runs: [...runs, runOf(event)] };
    case 'run.finished': {
      const { state, text, at: finished_at } = event;
      const end = { state, text, finished_at };
      return {
        ...transcript,
        runs: runs.map(run => (run.run_id === event.run_id ? { ...run, ...end } : run))
      };
    }
    default:
      return transcript;
  }
}

function questionOf(event: QuestionAsked): Transcript['questions'][number] {
  const { question_id, tool_call_id, prompt, secret, choices, at: asked_at } = event;
  return { question_id, tool_call_id, prompt, secret, choices, asked_at };
}

function runOf(event: RunDetached): Transcript['runs'][number] {
  const { run_id, tool_call_id, path, labels, at: detached_at } = event;
  return {
    run_id,
    tool_call_id,
    path,
    labels,
    state: 'running',
    text: '',
    detached_at,
    finished_at: null
  };
}

function newTurn(event: TurnStarted): TurnView {
  return {
    turn_id: event.turn_id ?? '',
    prompt: event.prompt,
    mode: event.mode,
    context: event.context,
    provider: event.provider,
    model: event.model,
    state: 'running',
    error: null,
    phase: phase('model', event.at),
    blocks: [],
    request_start: 0,
    usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 },
    started_at: event.at,
    finished_at: null
  };
}

/** Events outside a turn of this transcript change nothing. */
function foldInto(turns: TurnView[], event: TurnEvent): TurnView[] {
  const index = turns.findIndex(turn => turn.turn_id === event.turn_id);
  const turn = turns[index];
  if (!turn || turn.state !== 'running') {
    return turns;
  }
  return replaced(turns, index, foldTurn(turn, event));
}

function foldTurn(turn: TurnView, event: TurnEvent): TurnView {
  switch (event.type) {
    case 'model.requested': {
      const blocks = event.attempt === 1 ? turn.blocks : withoutBrokenAttempt(turn);
      return { ...turn, blocks, request_start: blocks.length, phase: phase('model', event.at) };
    }
    case 'text.delta':
      return { ...turn, blocks: joined(turn, event), phase: sameOr(turn, 'writing', event.at) };
    case 'thinking.delta':
      return { ...turn, blocks: joined(turn, event), phase: sameOr(turn, 'thinking', event.at) };
    case 'tool.input_delta':
      return { ...turn, blocks: withInput(turn, event), phase: sameOr(turn, 'writing', event.at) };
    case 'tool.requested':
      return { ...turn, blocks: withRequest(turn, event) };
    case 'approval.requested':
      return withApproval(turn, event);
    case 'approval.resolved':
      return { ...turn, blocks: resolved(turn.blocks, event) };
    case 'tool.started':
      return {
        ...turn,
        blocks: updateTool(turn.blocks, event.tool_call_id, () => ({
          state: 'running',
          started_at: event.at
        })),
        phase: phase('tool', event.at, toolName(turn, event.tool_call_id))
      };
    case 'tool.progress':
      return {
        ...turn,
        blocks: updateTool(turn.blocks, event.tool_call_id, block => ({
          progress: lastCharacters(block.progress + event.text, PROGRESS_CHARS)
        }))
      };
    case 'tool.finished':
      return { ...turn, blocks: withResult(turn.blocks, event) };
    case 'question.asked':
      return { ...turn, phase: phase('question', event.at, toolName(turn, event.tool_call_id)) };
    case 'question.closed':
      return withoutQuestion(turn, event);
    case 'run.detached':
    case 'run.finished':
      return turn;
    case 'usage.updated':
      return { ...turn, usage: usageOf(event) };
    case 'notice':
      return withNotice(turn, event);
    case 'turn.finished':
      return finished(turn, event);
    default:
      return assertNever(event);
  }
}

function withoutQuestion(turn: TurnView, { at }: QuestionClosed): TurnView {
  return turn.phase?.name === 'question'
    ? { ...turn, phase: phase('tool', at, turn.phase.detail) }
    : turn;
}

function withApproval(turn: TurnView, event: ApprovalRequested): TurnView {
  const approval: ApprovalState = {
    approval_id: event.approval_id,
    title: event.title,
    reason: event.reason,
    preview: event.preview,
    digest: event.digest,
    decision: null,
    comment: '',
    by: null
  };
  return {
    ...turn,
    blocks: updateTool(turn.blocks, event.tool_call_id, () => ({ state: 'waiting', approval })),
    phase: phase('approval', event.at, toolName(turn, event.tool_call_id))
  };
}

function usageOf(event: Extract<AnyEvent, { type: 'usage.updated' }>): TurnView['usage'] {
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = event;
  return { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens };
}

function withNotice(turn: TurnView, event: Notice): TurnView {
  const { level, code, text, retry_at, at } = event;
  if (retry_at !== null) {
    return { ...turn, phase: { name: 'retrying', since: at, detail: text, retry_at } };
  }
  return { ...turn, blocks: [...turn.blocks, { type: 'notice', level, code, text }] };
}

function finished(turn: TurnView, event: TurnFinished): TurnView {
  const isOpen = ({ state }: ToolBlock): boolean =>
    state === 'requested' || state === 'waiting' || state === 'running';
  return {
    ...turn,
    state: event.reason,
    error: event.error,
    phase: null,
    blocks: turn.blocks.map(block =>
      block.type === 'tool' && isOpen(block)
        ? { ...block, state: 'cancelled', finished_at: event.at }
        : block
    ),
    finished_at: event.at
  };
}

function phase(name: Phase['name'], since: string, detail = ''): Phase {
  return { name, since, detail, retry_at: null };
}

/** The current phase when it already has this name, so that its age keeps counting. */
function sameOr(turn: TurnView, name: Phase['name'], at: string): Phase {
  return turn.phase?.name === name ? turn.phase : phase(name, at);
}

function toolName(turn: TurnView, toolCallId: string): string {
  const block = turn.blocks[toolIndex(turn.blocks, toolCallId)];
  return block?.type === 'tool' ? block.name : '';
}

/** Drops what the broken attempt had shown; notices stay. */
function withoutBrokenAttempt(turn: TurnView): Blocks {
  return turn.blocks.filter((block, i) => i < turn.request_start || block.type === 'notice');
}

function joined(turn: TurnView, event: TextDelta | ThinkingDelta): Blocks {
  const type = event.type === 'text.delta' ? 'text' : 'thinking';
  const end = turn.blocks.length - 1;
  const last = turn.blocks[end];
  // a new request starts a new block
  if (last?.type === type && turn.blocks.length > turn.request_start) {
    return replaced(turn.blocks, end, { ...last, text: last.text + event.text });
  }
  return [...turn.blocks, { type, text: event.text }];
}

function withInput(turn: TurnView, event: ToolInputDelta): Blocks {
  const { tool_call_id, name, at, partial_json } = event;
  if (toolIndex(turn.blocks, tool_call_id) < 0) {
    return [...turn.blocks, newTool(tool_call_id, name, at, partial_json)];
  }
  return updateTool(turn.blocks, tool_call_id, block => ({
    input_json: block.input_json + partial_json
  }));
}

function withRequest(turn: TurnView, event: ToolRequested): Blocks {
  const { tool_call_id, name, at, input, effect } = event;
  const blocks =
    toolIndex(turn.blocks, tool_call_id) < 0
      ? [...turn.blocks, newTool(tool_call_id, name, at, '')]
      : turn.blocks;
  return updateTool(blocks, tool_call_id, () => ({ input, input_json: '', effect }));
}

function newTool(tool_call_id: string, name: string, at: string, input_json: string): ToolBlock {
  return {
    type: 'tool',
    tool_call_id,
    name,
    input_json,
    input: null,
    effect: null,
    state: 'requested',
    approval: null,
    progress: '',
    result: null,
    at,
    started_at: null,
    finished_at: null
  };
}

function resolved(blocks: Blocks, event: ApprovalResolved): Blocks {
  return blocks.map(block => {
    if (block.type !== 'tool' || block.approval?.approval_id !== event.approval_id) {
      return block;
    }
    const { decision, comment, by } = event;
    return {
      ...block,
      approval: { ...block.approval, decision, comment, by },
      state: decision === 'approve' ? 'requested' : 'denied'
    };
  });
}

function withResult(blocks: Blocks, event: ToolFinished): Blocks {
  const { result, at } = event;
  return updateTool(blocks, event.tool_call_id, block => ({
    state: stateAfter(block, event),
    result,
    progress: '',
    finished_at: at
  }));
}

function stateAfter(block: ToolBlock, { result }: ToolFinished): ToolBlock['state'] {
  if (result.metadata['cancelled'] === true) {
    return 'cancelled';
  }
  if (block.state === 'denied') {
    return 'denied';
  }
  return result.success ? 'done' : 'failed';
}

function toolIndex(blocks: Blocks, toolCallId: string): number {
  return blocks.findIndex(block => block.type === 'tool' && block.tool_call_id === toolCallId);
}

function updateTool(
  blocks: Blocks,
  toolCallId: string,
  change: (block: ToolBlock) => Partial<ToolBlock>
): Blocks {
  return blocks.map(block =>
    block.type === 'tool' && block.tool_call_id === toolCallId
      ? { ...block, ...change(block) }
      : block
  );
}

function replaced<T>(items: readonly T[], index: number, item: T): T[] {
  const copy = items.slice();
  copy[index] = item;
  return copy;
}

/** The end of `text`, counted in code points as Python does. */
export function lastCharacters(text: string, count: number): string {
  if (text.length <= count) {
    return text;
  }
  let start = text.length;
  for (let left = count; left > 0 && start > 0; left--) {
    start -= isLow(text.charCodeAt(start - 1)) && isHigh(text.charCodeAt(start - 2)) ? 2 : 1;
  }
  return text.slice(start);
}

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;
