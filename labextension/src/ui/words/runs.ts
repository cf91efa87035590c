/** Runs that go on after their call, in words, and what becomes of the call's row. Pure. */
import type { RunState, ToolBlock, Transcript } from '../../protocol/types';
import { phrase, type Parts } from './parts';
import { cellName, cellPlace, cellsOf, filePlace } from './places';
import { between, duration } from './time';
import type { Words } from './tool-phrase';

/** The call with this id, whichever turn it is in. */
export function callOf({ turns }: Transcript, toolCallId: string): ToolBlock | null {
  for (const turn of [...turns].reverse()) {
    for (const block of turn.blocks) {
      if (block.type === 'tool' && block.tool_call_id === toolCallId) {
        return block;
      }
    }
  }
  return null;
}

/** When a run began, as far as the transcript tells. */
export function runBegan(run: RunState, call: ToolBlock | null): string {
  return call?.started_at ?? run.detached_at;
}

/** "Cell 4 of a.ipynb is running", "Cell 4 of a.ipynb finished after 3 min". */
export function runPhrase(words: Words, run: RunState, call: ToolBlock | null): Parts {
  const { t } = words;
  const cells = runCells(words, run, call);
  const file = filePlace(t, run.path);
  if (run.finished_at === null) {
    const isMany = namesOf(run).length > 1;
    return phrase(t, isMany ? '%1 of %2 are running' : '%1 of %2 is running', cells, file);
  }
  const took = [duration(t, between(runBegan(run, call), run.finished_at))];
  switch (run.state) {
    case 'ok':
      return phrase(t, '%1 of %2 finished after %3', cells, file, took);
    case 'interrupted':
      return phrase(t, '%1 of %2 was interrupted after %3', cells, file, took);
    case 'lost':
      return phrase(t, '%1 of %2: %3', cells, file, [run.text]);
    default:
      return phrase(t, '%1 of %2 failed after %3: %4', cells, file, took, [reasonOf(run)]);
  }
}

/** The call's row as its run makes it: it goes on, or has ended by now. */
export function withRun(block: ToolBlock, run: RunState | null): ToolBlock {
  if (!run) {
    return block;
  }
  const { result } = block;
  return {
    ...block,
    state: stateOf(run),
    finished_at: run.finished_at,
    result: result && { ...result, metadata: { ...result.metadata, state: run.state } }
  };
}

/** The state of a run as that of a call. */
export function stateOf(run: RunState): ToolBlock['state'] {
  return run.finished_at === null ? 'running' : (ENDS[run.state] ?? 'failed');
}

const ENDS: Readonly<Record<string, ToolBlock['state']>> = {
  ok: 'done',
  interrupted: 'cancelled'
};

/** Why it failed; the name of its only cell is not said twice. */
export function reasonOf(run: RunState): string {
  return namesOf(run).length > 1 ? run.text : run.text.replace(/^(?:cell \S+|the code): /, '');
}

/** Scratch code has no label. */
function namesOf(run: RunState): readonly string[] {
  return run.labels.filter(Boolean);
}

function runCells(words: Words, run: RunState, call: ToolBlock | null): Parts {
  const { t, tn } = words;
  const names = namesOf(run);
  const [first] = names;
  if (first === undefined) {
    return [t('Code')];
  }
  if (names.length > 4) {
    return [tn('%1 cell', '%1 cells', names.length)];
  }
  if (names.length > 1) {
    return [t('Cells %1', names.join(', '))];
  }
  const known = call ? cellsOf(call).find(ref => ref.label === first) : undefined;
  const cellId = known?.cellId ?? null;
  const part = cellPlace(t, { path: run.path, cellId, label: first });
  return [typeof part === 'string' ? upper(cellName(t, first)) : { ...part, text: upper(part.text) }];
}

export function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
