/** Interrupts a kernel: an act of its own, apart from Stop. */
import { useWords } from '../context';
import type { Interrupt } from './use-interrupt';

interface Props {
  readonly interrupt: Interrupt;
  readonly act: () => Promise<void>;
}

export function InterruptButton({ interrupt, act }: Props) {
  const { t } = useWords();
  return (
    <button
      type="button"
      className="vitto-button"
      disabled={interrupt === 'asked'}
      onClick={() => void act()}
    >
      {t('Interrupt kernel')}
    </button>
  );
}
