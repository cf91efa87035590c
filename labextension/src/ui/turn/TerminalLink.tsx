import { useHost, useWords } from '../context';
import { Icon } from '../parts/Icon';
import type { ToolBlock } from '../../protocol/types';
import { textOf } from '../words/json';

/** Opens the terminal that a command ran in. */
export function TerminalLink({ block }: { block: ToolBlock }) {
  const host = useHost();
  const { t } = useWords();
  const name = textOf(block.result?.metadata['terminal']);
  if (!name) {
    return null;
  }
  return (
    <button type="button" className="vitto-link" onClick={() => host.openTerminal(name)}>
      <Icon name="terminal" /> {t('Open the terminal')}
    </button>
  );
}
