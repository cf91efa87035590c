/** The model's thinking as one folded row. */
import { memo, useState } from 'react';

import { useWords } from '../context';
import { Icon } from '../parts/Icon';
import { AnswerText } from './AnswerText';

interface Props {
  readonly text: string;
  readonly open: boolean;
}

export const Thinking = memo(function Thinking({ text, open }: Props) {
  const { t } = useWords();
  const [unfolded, setUnfolded] = useState(false);
  return (
    <div className="vitto-row vitto-thinking">
      <button
        type="button"
        className="vitto-row-line"
        aria-expanded={unfolded}
        onClick={() => setUnfolded(!unfolded)}
      >
        <Icon name="thinking" />
        <span className="vitto-row-phrase">{open ? t('Thinking') : t('Thought')}</span>
        {!unfolded && <span className="vitto-row-peek">{lastLine(text)}</span>}
        <span className={`vitto-fold ${unfolded ? 'vitto-unfolded' : ''}`}>
          <Icon name="chevron" />
        </span>
      </button>
      {unfolded && (
        <div className="vitto-row-body vitto-quiet">
          <AnswerText text={text} open={open} />
        </div>
      )}
    </div>
  );
});

function lastLine(text: string): string {
  const trimmed = text.trimEnd();
  return trimmed.slice(trimmed.lastIndexOf('\n') + 1).replace(/[*_#`]/g, '');
}
