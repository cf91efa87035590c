/** One tool call as one line that opens to its exact input and result. */
import { memo, useId, useState } from 'react';

import { useStore, useWords } from '../context';
import { Icon } from '../parts/Icon';
import { PartsView } from '../parts/PartsView';
import type { SessionView } from '../../model/session-view';
import type { RunState, ToolBlock } from '../../protocol/types';
import { plain } from '../words/parts';
import { reasonOf, withRun } from '../words/runs';
import { toolIcon, toolPhrase } from '../words/tool-phrase';
import { ApprovalRecord } from './ApprovalRecord';
import { LiveTail } from './LiveTail';
import { RowState, RowTime } from './RowState';
import { ToolDetails } from './ToolDetails';

export const ToolRow = memo(function ToolRow({ block }: { block: ToolBlock }) {
  const words = useWords();
  const [open, setOpen] = useState(false);
  const bodyId = useId();
  const run = useStore(({ session }) => runOf(session, block.tool_call_id));
  const asks = useStore(({ session }) => isAsking(session, block.tool_call_id));
  const shown = withRun(block, run);
  const parts = toolPhrase(words, shown);
  return (
    <div className={`vitto-row vitto-row-${shown.state}`}>
      <div className="vitto-row-line" onClick={() => setOpen(!open)}>
        <Icon name={toolIcon(block.name)} />
        <span className="vitto-row-phrase">
          <PartsView parts={parts} />
        </span>
        <RowTime block={shown} />
        <RowState
          state={asks ? 'waiting' : shown.state}
          word={run && !asks && shown.state === 'running' ? words.t('still running') : ''}
        />
        <button
          type="button"
          className={`vitto-fold ${open ? 'vitto-unfolded' : ''}`}
          aria-expanded={open}
          aria-controls={open ? bodyId : undefined}
          aria-label={words.t('Details: %1', plain(parts))}
          onClick={event => {
            event.stopPropagation();
            setOpen(!open);
          }}
        >
          <Icon name="chevron" />
        </button>
      </div>
      <RowNote text={run ? reasonOf(run) : errorOf(block)} failed={shown.state === 'failed'} />
      {block.approval && block.approval.decision !== null && (
        <ApprovalRecord approval={block.approval} />
      )}
      {!open && <LiveTail block={block} />}
      {open && (
        <div id={bodyId} className="vitto-row-body">
          <ToolDetails block={block} />
        </div>
      )}
    </div>
  );
});

/** What went wrong, in one line under the row. */
function RowNote({ text, failed }: { text: string; failed: boolean }) {
  // the id in "cell 5 (id 3f2a)" is for the model
  const line = failed ? lastFrame(text).replace(/ \(id [\w-]+\)/g, '') : '';
  return line ? <p className="vitto-row-note">{line}</p> : null;
}

function errorOf(block: ToolBlock): string {
  return block.result?.error ?? '';
}

function runOf(session: SessionView | null, toolCallId: string): RunState | null {
  return session?.transcript.runs.find(run => run.tool_call_id === toolCallId) ?? null;
}

/** Whether the call, or what it has started, waits for an answer of the user. */
function isAsking(session: SessionView | null, toolCallId: string): boolean {
  return session?.transcript.questions.some(asked => asked.tool_call_id === toolCallId) ?? false;
}

/** The line that says what went wrong: the last one of a traceback, else the first. */
function lastFrame(error: string): string {
  const lines = error.trim().split('\n');
  const isTraceback = lines.some(line => /^Traceback|^-{5,}|^\s*File "/.test(line));
  return (isTraceback ? lines[lines.length - 1] : lines[0]) ?? '';
}
