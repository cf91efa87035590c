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

/** "Read 5 files, 2 searches, 1 other look-up". */
export function readsWords({ tn }: Words, blocks: readonly ToolBlock[]): string {
  const reads = blocks.filter(({ name }) => name === 'read_file' || name === 'read_notebook');
  const searches = blocks.filter(({ name }) => name === 'search_code' || name === 'list_files');
  const files = new Set(reads.map(pathOf)).size;
  const others = blocks.length - reads.length - searches.length;
  return [
    files && tn('Read %1 file', 'Read %1 files', files),
    searches.length && tn('%1 search', '%1 searches', searches.length),
    others && tn('%1 other look-up', '%1 other look-ups', others)
  ]
    .filter(Boolean)
    .join(', ');
}
