/** Interrupting a kernel: an act of its own, apart from Stop. */
import { useState } from 'react';

import { useHost } from '../context';
import { errorInfo } from '../../model/problems';

export type Interrupt = 'none' | 'asked' | 'sent' | { readonly failed: string };

export function useInterrupt(path: string): readonly [Interrupt, () => Promise<void>] {
  const host = useHost();
  const [state, setState] = useState<Interrupt>('none');
  const act = async (): Promise<void> => {
    setState('asked');
    try {
      await host.interruptKernel(path);
      setState('sent');
    } catch (error) {
      setState({ failed: errorInfo(error).message });
    }
  };
  return [state, act];
}
