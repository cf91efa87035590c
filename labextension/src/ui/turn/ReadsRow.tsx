/** Neighbouring reads as one row that opens to all of them. */
import { memo, useState } from 'react';

import { useWords } from '../context';
import { Icon } from '../parts/Icon';
import type { ToolBlock } from '../../protocol/types';
import { pathOf } from '../words/places';
import type { Words } from '../words/tool-phrase';
import { RowState } from './RowState';
import { ToolRow } from './ToolRow';

interface Props {
  readonly blocks: readonly ToolBlock[];
}

export const ReadsRow = memo(function ReadsRow({ blocks }: Props) {
  const words = useWords();
  const [open, setOpen] = useState(false);
  return (
    <div className="vitto-row">
      <button
        type="button"
        className="vitto-row-line"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="read" />
        <span className="vitto-row-phrase">{readsWords(words, blocks)}</span>
        <RowState state="done" />
        <span className={`vitto-fold ${open ? 'vitto-unfolded' : ''}`}>
          <Icon name="chevron" />
        </span>
      </button>
      {open && (
        <div className="vitto-row-body vitto-rows">
          {blocks.map(block => (
            <ToolRow key={block.tool_call_id} block={block} />
          ))}
        </div>
      )}
    </div>
  );
}, sameBlocks);

function sameBlocks(before: Props, now: Props): boolean {
  return (
    before.blocks.length === now.blocks.length &&
    before.blocks.every((block, index) => block === now.blocks[index])
  );
}

/** "Read 5 files" when all were documents, else "5 look-ups". */
export function readsWords({ tn }: Words, blocks: readonly ToolBlock[]): string {
  const paths = new Set(blocks.map(pathOf));
  const allRead = blocks.every(({ name }) => name === 'read_file' || name === 'read_notebook');
  return allRead && paths.size > 1
    ? tn('Read %1 file', 'Read %1 files', paths.size)
    : tn('Looked at %1 thing', 'Looked at %1 things', blocks.length);
}
