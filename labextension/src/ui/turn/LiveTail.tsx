/** The end of what is being written or printed right now, under a running row. */
import { useWords } from '../context';
import type { ToolBlock } from '../../protocol/types';
import { readPartialInput } from '../words/partial-input';
import { Rendered } from '../parts/Rendered';

const LINES = 8;
const LINE_CHARS = 400;

export function LiveTail({ block }: { block: ToolBlock }) {
  const { t } = useWords();
  const writing = block.state === 'requested' && block.input_json !== '';
  const text = writing ? readPartialInput(block.input_json).text : runningText(block);
  if (!text.trim()) {
    return null;
  }
  const label = writing ? t('Being written') : t('Output so far');
  return (
    <div className="vitto-tail" role="group" aria-label={label}>
      {writing ? <pre>{tail(text)}</pre> : <Rendered text={tail(text)} as="ansi" />}
    </div>
  );
}

function runningText(block: ToolBlock): string {
  return block.state === 'running' ? block.progress : '';
}

function tail(text: string): string {
  const lines = text.replace(/\n+$/, '').split('\n').slice(-LINES);
  return lines.map(line => line.slice(-LINE_CHARS)).join('\n');
}
