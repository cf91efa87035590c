/** After a stop: what still works, and interrupting the kernel as a separate act. */
import { useState } from 'react';

import { useUi } from '../context';
import { errorInfo } from '../../model/problems';
import type { SessionView } from '../../model/session-view';
import { Icon } from './Icon';

type Interrupt = 'none' | 'asked' | 'done' | { readonly failed: string };

export function StillRunning({ session }: { session: SessionView }) {
  const { host, words } = useUi();
  const { t } = words;
  const [interrupt, setInterrupt] = useState<Interrupt>('none');
  const path = kernelPath(session);
  const act = async (kernel: string): Promise<void> => {
    setInterrupt('asked');
    try {
      await host.interruptKernel(kernel);
      setInterrupt('done');
    } catch (error) {
      setInterrupt({ failed: errorInfo(error).message });
    }
  };
  const names = session.stillRunning.join(', ');
  return (
    <div className="vitto-status vitto-still" role="group" aria-label={t('Status')}>
      <Icon name="kernel" />
      <span className="vitto-status-text">
        {interrupt === 'done'
          ? t('The kernel was interrupted: %1', path ?? names)
          : t('The agent has stopped. Still running: %1', names)}
        {typeof interrupt === 'object' && <span> · {interrupt.failed}</span>}
      </span>
      {path && interrupt !== 'done' && (
        <button
          type="button"
          className="vitto-button"
          disabled={interrupt === 'asked'}
          onClick={() => void act(path)}
        >
          {t('Interrupt kernel')}
        </button>
      )}
    </div>
  );
}

/** The notebook whose kernel goes on: the server says "kernel of analysis.ipynb". */
function kernelPath({ stillRunning }: SessionView): string | null {
  const found = stillRunning.map(name => /^(?:kernel of )?(.+\.ipynb)$/.exec(name)?.[1]);
  return found.find(path => path !== undefined) ?? null;
}
