/** How a tool call stands: an icon, with the word for screen readers, and its time. */
import { useWords } from '../context';
import type { IconName } from '../host';
import { Age } from '../parts/Age';
import { Icon, Spinner } from '../parts/Icon';
import type { ToolBlock } from '../../protocol/types';
import { between, duration, exact, type Translate } from '../words/time';

type State = ToolBlock['state'];

export const STATE_ICONS: Readonly<Record<State, IconName>> = {
  requested: 'running',
  waiting: 'waiting',
  running: 'running',
  done: 'check',
  failed: 'close',
  denied: 'close',
  cancelled: 'stop'
};

interface Props {
  readonly state: State;
  /** Said in place of the state's own word. */
  readonly word?: string;
}

export function RowState({ state, word: given }: Props) {
  const { t } = useWords();
  const moving = state === 'running' || state === 'requested';
  const word = given || stateWord(t, state);
  return (
    <span className={`vitto-state vitto-state-${state}`} title={word}>
      {moving ? <Spinner /> : <Icon name={STATE_ICONS[state]} />}
      <span className={given || isShown(state) ? 'vitto-state-word' : 'vitto-hidden'}>{word}</span>
    </span>
  );
}

/** States that the icon alone would not tell at a glance. */
function isShown(state: State): boolean {
  return state !== 'done' && state !== 'running' && state !== 'requested';
}

function stateWord(t: Translate, state: State): string {
  switch (state) {
    case 'requested':
      return t('preparing');
    case 'waiting':
      return t('waiting for you');
    case 'running':
      return t('running');
    case 'done':
      return t('done');
    case 'failed':
      return t('failed');
    case 'denied':
      return t('not done');
    case 'cancelled':
      return t('stopped');
  }
}

/** The age while it runs, then how long it took; nothing for what took less than a second. */
export function RowTime({ block }: { block: ToolBlock }) {
  const { t } = useWords();
  if (block.state === 'running' && block.started_at) {
    return <Age since={block.started_at} />;
  }
  const ms = between(block.started_at, block.finished_at);
  if (ms < 1000) {
    return null;
  }
  return (
    <time className="vitto-age" title={exact(block.finished_at ?? block.at)}>
      {duration(t, ms)}
    </time>
  );
}
