/** Code or output in full; when long, its middle is folded and says how much is there. */
import { useState } from 'react';

import { useWords } from '../context';
import { CopyButton } from './CopyButton';
import { Icon } from './Icon';
import { Rendered } from './Rendered';

interface Props {
  readonly text: string;
  /** A language to highlight, or "ansi" for terminal text. */
  readonly as: string;
  /** What it is, for screen readers. */
  readonly label: string;
  readonly wrap?: boolean;
}

const WHOLE_LINES = 28;
const HEAD_LINES = 16;
const TAIL_LINES = 8;

export function Folded({ text, as, label, wrap = false }: Props) {
  const { t, tn } = useWords();
  const [open, setOpen] = useState(false);
  const lines = text.replace(/\n+$/, '').split('\n');
  const hidden = lines.length > WHOLE_LINES ? lines.length - HEAD_LINES - TAIL_LINES : 0;
  return (
    <div className={`vitto-block${wrap ? ' vitto-wrap' : ''}`}>
      <CopyButton text={text} label={t('Copy: %1', label)} />
      <div className="vitto-scroll" tabIndex={0} role="group" aria-label={label}>
        {hidden === 0 || open ? (
          <Rendered text={lines.join('\n')} as={as} />
        ) : (
          <>
            <Rendered text={lines.slice(0, HEAD_LINES).join('\n')} as={as} />
            <button type="button" className="vitto-more" onClick={() => setOpen(true)}>
              <Icon name="chevron" />
              {tn('%1 more line', '%1 more lines', hidden)}
            </button>
            <Rendered text={lines.slice(-TAIL_LINES).join('\n')} as={as} />
          </>
        )}
      </div>
      {hidden > 0 && open && (
        <button type="button" className="vitto-more" onClick={() => setOpen(false)}>
          {t('Fold the middle')}
        </button>
      )}
    </div>
  );
}
