/** A button that opens a small panel; Escape, a click outside or leaving it closes the panel. */
import { useEffect, useRef, useState, type ReactNode } from 'react';

interface Props {
  readonly label: string;
  readonly button: ReactNode;
  readonly className?: string;
  /** Where the panel opens. */
  readonly side: 'above' | 'below';
  readonly children: (close: () => void) => ReactNode;
  readonly onOpen?: () => void;
}

export function Popover({ label, button, className = '', side, children, onOpen }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) {
      return undefined;
    }
    const leave = (event: Event): void => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) {
        setOpen(false);
      }
    };
    document.addEventListener('pointerdown', leave, true);
    document.addEventListener('focusin', leave, true);
    return () => {
      document.removeEventListener('pointerdown', leave, true);
      document.removeEventListener('focusin', leave, true);
    };
  }, [open]);
  const close = (): void => {
    setOpen(false);
    trigger.current?.focus();
  };
  return (
    <div
      ref={root}
      className="vitto-popover"
      onKeyDown={event => {
        if (open && event.key === 'Escape') {
          event.stopPropagation();
          close();
        }
      }}
    >
      <button
        ref={trigger}
        type="button"
        className={className}
        aria-label={label}
        title={label}
        aria-expanded={open}
        onClick={() => {
          setOpen(!open);
          if (!open) {
            onOpen?.();
          }
        }}
      >
        {button}
      </button>
      {open && (
        <div role="group" aria-label={label} className={`vitto-panel vitto-panel-${side}`}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
