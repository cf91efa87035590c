/** One turn: prompt, text and work in the order they came, and its end. */
import { memo } from 'react';

import { useDesk, useWords } from '../context';
import { Message } from '../parts/Message';
import { AnswerText } from '../text/AnswerText';
import { Thinking } from '../text/Thinking';
import { assertNever } from '../../protocol/assert-never';
import type { Block, TurnView } from '../../protocol/types';
import { itemsOf } from './items';
import { PromptBlock } from './PromptBlock';
import { ReadsRow } from './ReadsRow';
import { ToolRow } from './ToolRow';
import { TurnEnd } from './TurnEnd';

interface Props {
  readonly turn: TurnView;
  readonly last: boolean;
}

export const TurnSection = memo(function TurnSection({ turn, last }: Props) {
  const { t } = useWords();
  const running = turn.state === 'running';
  const open = running ? turn.blocks[turn.blocks.length - 1] : undefined;
  return (
    <article
      className={`vitto-turn${running || last ? '' : ' vitto-turn-past'}`}
      aria-label={t('Turn: %1', turn.prompt.slice(0, 60))}
    >
      <PromptBlock prompt={turn.prompt} context={turn.context} mode={turn.mode} />
      {itemsOf(turn.blocks).map(item =>
        item.kind === 'reads' ? (
          <ReadsRow key={item.key} blocks={item.blocks} />
        ) : (
          <BlockView key={item.key} block={item.block} open={item.block === open} />
        )
      )}
      {!running && <TurnEnd turn={turn} last={last} />}
    </article>
  );
});

const BlockView = memo(function BlockView({ block, open }: { block: Block; open: boolean }) {
  const showThinking = useDesk(desk => desk.settings.showThinking);
  switch (block.type) {
    case 'text':
      return <AnswerText text={block.text} open={open} />;
    case 'thinking':
      return showThinking ? <Thinking text={block.text} open={open} /> : null;
    case 'tool':
      return <ToolRow block={block} />;
    case 'notice':
      return <Message tone={block.level} text={block.text} />;
    default:
      return assertNever(block);
  }
});
