/** Runs that go on though their call has ended, one quiet line each, and how they ended. */
import { useSession, useWords } from '../context';
import { Age } from '../parts/Age';
import { Icon, Spinner } from '../parts/Icon';
import { PartsView } from '../parts/PartsView';
import type { RunState, ToolBlock } from '../../protocol/types';
import { STATE_ICONS } from '../turn/RowState';
import { callOf, runBegan, runPhrase, stateOf } from '../words/runs';
import { InterruptButton } from './InterruptButton';
import { useInterrupt } from './use-interrupt';

export function DetachedRuns() {
  const { t } = useWords();
  const transcript = useSession()?.transcript;
  if (!transcript || transcript.runs.length === 0) {
    return null;
  }
  return (
    <ul className="vitto-runs" aria-label={t('Runs in the background')}>
      {transcript.runs.map(run => {
        const call = callOf(transcript, run.tool_call_id);
        return run.finished_at === null ? (
          <OpenRun key={run.run_id} run={run} call={call} />
        ) : (
          <EndedRun key={run.run_id} run={run} call={call} />
        );
      })}
    </ul>
  );
}

interface Props {
  readonly run: RunState;
  readonly call: ToolBlock | null;
}

function OpenRun({ run, call }: Props) {
  const words = useWords();
  const { t } = words;
  const [interrupt, act] = useInterrupt(run.path);
  return (
    <li className="vitto-status vitto-run">
      <Spinner />
      <span className="vitto-status-text">
        <PartsView parts={runPhrase(words, run, call)} />
        <span className="vitto-status-age">
          <Age since={runBegan(run, call)} />
        </span>
        {interrupt === 'sent' && <span className="vitto-quiet"> · {t('interrupt sent')}</span>}
        {typeof interrupt === 'object' && <span> · {interrupt.failed}</span>}
      </span>
      <InterruptButton interrupt={interrupt} act={act} />
    </li>
  );
}

function EndedRun({ run, call }: Props) {
  const words = useWords();
  const state = stateOf(run);
  return (
    <li className="vitto-status vitto-run">
      <span className={`vitto-state vitto-state-${state}`}>
        <Icon name={STATE_ICONS[state]} />
      </span>
      <span className="vitto-status-text">
        <PartsView parts={runPhrase(words, run, call)} />
      </span>
    </li>
  );
}
