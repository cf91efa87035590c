/** After a stop: what still works, and interrupting the kernel as a separate act. */
import { useEffect, useState } from 'react';

import { useUi } from '../context';
import type { SessionView } from '../../model/session-view';
import { InterruptButton } from '../runs/InterruptButton';
import { useInterrupt } from '../runs/use-interrupt';
import { Icon } from './Icon';

export function StillRunning({ session }: { session: SessionView }) {
  const { t } = useUi().words;
  const names = unseenRunning(session);
  const path = kernelPath(names);
  const [interrupt, act] = useInterrupt(path ?? '');
  const state = useKernelState(path, interrupt === 'sent');
  return (
    <div className="vitto-status vitto-still" role="group" aria-label={t('Status')}>
      <Icon name="kernel" />
      <span className="vitto-status-text">
        {path && interrupt === 'sent'
          ? afterInterrupt(t, path, state)
          : t('The agent has stopped. Still running: %1', names.join(', '))}
        {typeof interrupt === 'object' && <span> · {interrupt.failed}</span>}
      </span>
      {path && (interrupt !== 'sent' || state === 'busy') && (
        <InterruptButton interrupt={interrupt} act={act} />
      )}
    </div>
  );
}

/** What a stop has left at work and has no line of its own as a run, ended or not. */
export function unseenRunning({ stillRunning, transcript }: SessionView): readonly string[] {
  return stillRunning.filter(name => !transcript.runs.some(({ path }) => name.includes(path)));
}

type Translate = (text: string, ...args: readonly string[]) => string;

function afterInterrupt(t: Translate, path: string, state: string | null): string {
  if (state === 'busy') {
    return t('The kernel of %1 was interrupted and is still busy.', path);
  }
  return state === null
    ? t('The kernel was interrupted: %1', path)
    : t('The kernel was interrupted and is %1: %2', state, path);
}

/** The proof: what the kernel says of itself after the interrupt; null until it is known. */
function useKernelState(path: string | null, wanted: boolean): string | null {
  const { transport } = useUi();
  const [state, setState] = useState<string | null>(null);
  useEffect(() => {
    if (!path || !wanted) {
      return undefined;
    }
    let isGone = false;
    const timer = setTimeout(() => {
      transport.context(path).then(
        ({ notebook }) => isGone || setState(notebook?.kernel_state || null),
        () => undefined
      );
    }, SETTLES_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [transport, path, wanted]);
  return state;
}

/** A kernel needs a moment to give up what it does. */
const SETTLES_MS = 1000;

/** The notebook whose kernel goes on: "kernel of a.ipynb", "cell 4 of a.ipynb, for 2 min". */
function kernelPath(names: readonly string[]): string | null {
  const pattern = /^(?:(?:kernel|cell \S+|code) of )?(.+?\.ipynb)(?:, .*)?$/;
  return names.map(name => pattern.exec(name)?.[1]).find(path => path !== undefined) ?? null;
}
