import { useEffect, useState } from 'react';

import { useHost, useWords } from '../context';
import { IconButton } from './IconButton';

const SHOWN_MS = 1500;

/** Copies `text`; shows a check for a moment when it is done. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const host = useHost();
  const { t } = useWords();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) {
      return undefined;
    }
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  return (
    <IconButton
      icon={copied ? 'check' : 'copy'}
      label={copied ? t('Copied') : label}
      className="vitto-copy"
      onClick={event => {
        event.stopPropagation();
        void host.copy(text).then(() => setCopied(true));
      }}
    />
  );
}
