/** The blocks of a turn as the rows that are drawn. Pure. */
import type { Block, ToolBlock } from '../../protocol/types';

export type Item =
  | { readonly kind: 'block'; readonly key: string; readonly block: Block }
  | { readonly kind: 'reads'; readonly key: string; readonly blocks: readonly ToolBlock[] };

/** Neighbouring reads that went well fold into one item; empty text is left out. */
export function itemsOf(blocks: readonly Block[]): readonly Item[] {
  const items: Item[] = [];
  let reads: ToolBlock[] = [];
  const flush = (): void => {
    const [first] = reads;
    if (first) {
      const key = first.tool_call_id;
      items.push(
        reads.length > 1 ? { kind: 'reads', key, blocks: reads } : { kind: 'block', key, block: first }
      );
    }
    reads = [];
  };
  blocks.forEach((block, index) => {
    if (isBlank(block)) {
      return;
    }
    if (isFinishedRead(block)) {
      reads.push(block);
      return;
    }
    flush();
    items.push({ kind: 'block', key: keyOf(block, index), block });
  });
  flush();
  return items;
}

function isBlank(block: Block): boolean {
  return (block.type === 'text' || block.type === 'thinking') && block.text.trim() === '';
}

function isFinishedRead(block: Block): block is ToolBlock {
  return block.type === 'tool' && block.effect === 'read' && block.state === 'done';
}

function keyOf(block: Block, index: number): string {
  return block.type === 'tool' ? block.tool_call_id : `${block.type}-${index}`;
}
