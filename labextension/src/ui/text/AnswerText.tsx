/** The agent's text: finished blocks and the open one. */
import { memo, useRef } from 'react';

import { allBlocks, EMPTY_SPLIT, splitBlocks, type Split } from './blocks';
import { MarkdownBlock } from './MarkdownBlock';

interface Props {
  readonly text: string;
  /** Whether more text may still come. */
  readonly open: boolean;
}

export const AnswerText = memo(function AnswerText({ text, open }: Props) {
  const split = useSplit(text);
  const blocks = allBlocks(text, split);
  return (
    <div className="vitto-answer">
      {blocks.map((source, index) => (
        <MarkdownBlock
          key={index}
          source={source}
          open={open && index >= split.finished.length}
        />
      ))}
    </div>
  );
});

/** The split of `text`, continued from the last one while the text only grows. */
function useSplit(text: string): Split {
  const last = useRef<{ text: string; split: Split }>({ text: '', split: EMPTY_SPLIT });
  if (last.current.text !== text) {
    const before = text.startsWith(last.current.text) ? last.current.split : EMPTY_SPLIT;
    last.current = { text, split: splitBlocks(text, before) };
  }
  return last.current.split;
}
