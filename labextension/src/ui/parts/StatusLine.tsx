/** What the running turn does, since when, and Stop. */
import { useNow, useSession, useUi, useWords } from '../context';
import { runningTurn, type SessionView } from '../../model/session-view';
import type { Phase, TurnView } from '../../protocol/types';
import { phaseWords } from '../words/phase';
import { duration } from '../words/time';
import { Age } from './Age';
import { Icon, Spinner } from './Icon';
import { StillRunning, unseenRunning } from './StillRunning';

export function StatusLine() {
  const { store, words } = useUi();
  const session = useSession();
  const turn = session && runningTurn(session.transcript);
  if (!session || (!turn && !session.sending)) {
    return session && unseenRunning(session).length > 0 ? <StillRunning session={session} /> : null;
  }
  const waiting = turn?.phase?.name === 'approval' || turn?.phase?.name === 'question';
  return (
    <div className="vitto-status" role="group" aria-label={words.t('Status')}>
      {waiting ? <Icon name="waiting" /> : <Spinner />}
      <span className="vitto-status-text">
        <StatusText session={session} turn={turn} />
      </span>
      {turn && (
        <button
          type="button"
          className="vitto-button vitto-stop"
          disabled={session.stop === 'stopping'}
          title={words.t('Stop the agent; a running kernel is not interrupted')}
          onClick={() => void store.stop()}
        >
          <Icon name="stop" />
          {words.t('Stop')}
        </button>
      )}
    </div>
  );
}

function StatusText({ session, turn }: { session: SessionView; turn: TurnView | null }) {
  const words = useWords();
  if (session.stop === 'stopping') {
    return <>{words.t('Stopping…')}</>;
  }
  if (!turn?.phase) {
    return <>{words.t('Sending…')}</>;
  }
  if (turn.phase.retry_at) {
    return <Countdown phase={turn.phase} until={turn.phase.retry_at} />;
  }
  const text = phaseWords(words, turn);
  return (
    <span title={text}>
      {text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS - 1)}…` : text}
      <span className="vitto-status-age">
        <Age since={turn.phase.since} />
      </span>
    </span>
  );
}

/** A long command is cut here, as its row has all of it; the age never is. */
const MOST_CHARS = 40;

function Countdown({ phase, until }: { phase: Phase; until: string }) {
  const { t } = useWords();
  const now = useNow(true, 500);
  const left = Date.parse(until) - now;
  const when = left > 500 ? t('Retrying in %1', duration(t, left)) : t('Retrying now');
  return <>{phase.detail ? `${when} · ${phase.detail}` : when}</>;
}
