/** An error that ended a turn: what happened, what to do, details, and trying again. */
import { useUi, useWords } from '../context';
import { sendPrompt } from '../acts';
import { CopyButton } from '../parts/CopyButton';
import { Message } from '../parts/Message';
import type { ErrorInfo, TurnView } from '../../protocol/types';

interface Props {
  readonly turn: TurnView;
  readonly error: ErrorInfo;
  readonly last: boolean;
}

export function TurnError({ turn, error, last }: Props) {
  const { t } = useWords();
  const details = detailsOf(turn, error);
  return (
    <Message
      tone={turn.state === 'limit' ? 'warning' : 'error'}
      text={error.message}
      hint={error.hint}
    >
      <details className="vitto-details">
        <summary>{t('Details')}</summary>
        <div className="vitto-block">
          <CopyButton text={details} label={t('Copy the details')} />
          <pre className="vitto-details-text">{details}</pre>
        </div>
      </details>
      {last && <NextAct turn={turn} error={error} />}
    </Message>
  );
}

/** Limits that a further prompt can go on from. */
const CAN_CONTINUE = ['request_limit', 'output_limit'];

function NextAct({ turn, error }: { turn: TurnView; error: ErrorInfo }) {
  const ui = useUi();
  const { t } = ui.words;
  if (turn.state === 'error') {
    return (
      <button
        type="button"
        className="vitto-button"
        onClick={() => void sendPrompt(ui, turn.prompt, turn.context)}
      >
        {t('Try again')}
      </button>
    );
  }
  return CAN_CONTINUE.includes(error.code) ? (
    <button
      type="button"
      className="vitto-button"
      onClick={() => void sendPrompt(ui, t('Go on.'), turn.context)}
    >
      {t('Go on')}
    </button>
  ) : null;
}

function detailsOf(turn: TurnView, error: ErrorInfo): string {
  return [
    `code: ${error.code}`,
    `message: ${error.message}`,
    `provider: ${turn.provider}`,
    `model: ${turn.model}`,
    `turn: ${turn.turn_id}`,
    `started: ${turn.started_at}`,
    `finished: ${turn.finished_at ?? ''}`
  ].join('\n');
}
