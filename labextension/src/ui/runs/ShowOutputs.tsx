/** Outputs of a run that nobody approved stay untrusted in the page until the user says show. */
import { useState } from 'react';

import { useHost, useWords } from '../context';
import { errorInfo } from '../../model/problems';
import type { ToolBlock } from '../../protocol/types';
import { untrustedCells } from '../words/untrusted';

type Showing = 'no' | 'asked' | 'shown' | { readonly failed: string };

export function ShowOutputs({ block }: { block: ToolBlock }) {
  const { t } = useWords();
  const host = useHost();
  const [showing, setShowing] = useState<Showing>('no');
  const { path, cellIds } = untrustedCells(block);
  if (!host.showOutputs || cellIds.length === 0) {
    return null;
  }
  const show = async (): Promise<void> => {
    setShowing('asked');
    try {
      await host.showOutputs?.(path, cellIds);
      setShowing('shown');
    } catch (error) {
      setShowing({ failed: errorInfo(error).message });
    }
  };
  if (showing === 'shown') {
    return <p className="vitto-quiet">{t('Its outputs are shown in the notebook.')}</p>;
  }
  return (
    <div className="vitto-show-outputs">
      <button
        type="button"
        className="vitto-button"
        disabled={showing === 'asked'}
        onClick={() => void show()}
      >
        {t('Show its outputs')}
      </button>
      <span className="vitto-quiet">
        {typeof showing === 'object'
          ? showing.failed
          : t('It ran without asking you, so active content in its outputs is held back.')}
      </span>
    </div>
  );
}
