import type { ButtonHTMLAttributes } from 'react';

import type { IconName } from '../host';
import { Icon } from './Icon';

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon: IconName;
  /** The accessible name and the tooltip. */
  readonly label: string;
}

export function IconButton({ icon, label, className = '', ...rest }: Props) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`vitto-icon-button ${className}`}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
