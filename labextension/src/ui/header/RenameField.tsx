import { useRef, useState } from 'react';

import { useWords } from '../context';

interface Props {
  readonly title: string;
  /** The new title, or null when it stays. Called once. */
  readonly onDone: (renamed: string | null) => void;
}

const MOST_CHARS = 200;

/** Enter or leaving the field takes the new title, Escape keeps the old one. */
export function RenameField({ title, onDone }: Props) {
  const { t } = useWords();
  const [text, setText] = useState(title);
  // leaving the field follows Enter and Escape, when the field goes away
  const done = useRef(false);
  const finish = (renamed: string | null): void => {
    if (!done.current) {
      done.current = true;
      onDone(renamed && renamed !== title ? renamed : null);
    }
  };
  return (
    <input
      className="vitto-input vitto-rename"
      aria-label={t('Title of the session')}
      autoFocus
      maxLength={MOST_CHARS}
      value={text}
      onFocus={event => event.target.select()}
      onChange={event => setText(event.target.value)}
      onBlur={() => finish(text.trim())}
      onKeyDown={event => {
        if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
          finish(text.trim());
        } else if (event.key === 'Escape') {
          event.stopPropagation();
          finish(null);
        }
      }}
    />
  );
}
