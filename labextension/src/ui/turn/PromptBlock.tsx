/** The user's prompt with the context that went along. */
import { memo, useState } from 'react';

import { useHost, useWords } from '../context';
import { Icon } from '../parts/Icon';
import type { TurnContext } from '../../protocol/types';
import { fileName } from '../words/places';
import { selectionWords } from '../words/seen';

interface Props {
  readonly prompt: string;
  readonly context: TurnContext;
  readonly mode: 'plan' | 'ask';
}

const WHOLE_LINES = 12;

export const PromptBlock = memo(function PromptBlock({ prompt, context, mode }: Props) {
  const { t, tn } = useWords();
  const [open, setOpen] = useState(false);
  const lines = prompt.split('\n');
  const hidden = open ? 0 : Math.max(0, lines.length - WHOLE_LINES);
  return (
    <div className="vitto-prompt" role="group" aria-label={t('Your prompt')}>
      <p className="vitto-prompt-text">
        {hidden ? lines.slice(0, WHOLE_LINES).join('\n') : prompt}
      </p>
      {hidden > 0 && (
        <button type="button" className="vitto-link" onClick={() => setOpen(true)}>
          {tn('%1 more line', '%1 more lines', hidden)}
        </button>
      )}
      <SentContext context={context} mode={mode} />
    </div>
  );
});

function SentContext({ context, mode }: { context: TurnContext; mode: 'plan' | 'ask' }) {
  const host = useHost();
  const words = useWords();
  const { path, selection, attention, cell_id: cellId } = context;
  if (path === null && !selection && !attention && mode === 'ask') {
    return null;
  }
  return (
    <ul className="vitto-chips" aria-label={words.t('Sent along')}>
      {path !== null && (
        <li className="vitto-chip">
          <Icon name={path.endsWith('.ipynb') ? 'notebook' : 'file'} />
          <button
            type="button"
            className="vitto-link"
            title={path}
            onClick={() => host.reveal({ path, cellId })}
          >
            {fileName(path)}
          </button>
        </li>
      )}
      {selection && (
        <li className="vitto-chip" title={selection.text}>
          {words.t('selection, %1', selectionWords(words, selection, ''))}
        </li>
      )}
      {attention && (
        <li className="vitto-chip" title={attention}>
          <Icon name="warning" />
          <span className="vitto-chip-text">{attention.split('\n', 1)[0]}</span>
        </li>
      )}
      {mode === 'plan' && <li className="vitto-chip">{words.t('Plan: reading only')}</li>}
    </ul>
  );
}
