/** How a turn ended: a quiet receipt line, or what went wrong and what to do. */
import { useUi, useWords } from '../context';
import { reusePrompt } from '../acts';
import type { TurnView, Usage } from '../../protocol/types';
import { endWords } from '../words/phase';
import { between, duration, exact } from '../words/time';
import type { Words } from '../words/tool-phrase';
import { TurnError } from './TurnError';

interface Props {
  readonly turn: TurnView;
  readonly last: boolean;
}

export function TurnEnd({ turn, last }: Props) {
  return (
    <footer className="vitto-turn-end">
      {turn.error && <TurnError turn={turn} error={turn.error} last={last} />}
      <Receipt turn={turn} />
      {last && !turn.error && <NextAct turn={turn} />}
    </footer>
  );
}

function Receipt({ turn }: { turn: TurnView }) {
  const words = useWords();
  const took = duration(words.t, between(turn.started_at, turn.finished_at));
  const how = turn.state === 'error' ? words.t('Failed') : endWords(words, turn);
  return (
    <p className="vitto-receipt">
      <time dateTime={turn.finished_at ?? ''} title={exact(turn.finished_at ?? turn.started_at)}>
        {turn.state === 'done' ? took : words.t('%1 after %2', how, took)}
      </time>
      <Tokens usage={turn.usage} />
    </p>
  );
}

function Tokens({ usage }: { usage: Usage }) {
  const words = useWords();
  const read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  if (read + usage.output_tokens === 0) {
    return null;
  }
  return (
    <span title={usageWords(words, usage)}>
      {words.t('%1 tokens read, %2 written', grouped(read), grouped(usage.output_tokens))}
    </span>
  );
}

function usageWords({ t }: Words, usage: Usage): string {
  return t(
    '%1 tokens new, %2 from the cache, %3 put into the cache',
    grouped(usage.input_tokens),
    grouped(usage.cache_read_tokens),
    grouped(usage.cache_write_tokens)
  );
}

function grouped(count: number): string {
  return count.toLocaleString();
}

/** After a stop the prompt can be had back. */
function NextAct({ turn }: { turn: TurnView }) {
  const ui = useUi();
  return turn.state === 'cancelled' ? (
    <button type="button" className="vitto-link" onClick={() => reusePrompt(ui, turn)}>
      {ui.words.t('Use the prompt again')}
    </button>
  ) : null;
}
