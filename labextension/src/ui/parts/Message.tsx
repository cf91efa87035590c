/** Something that went wrong, told calmly: what happened and what to do. */
import type { ReactNode } from 'react';

import type { IconName } from '../host';
import { Icon } from './Icon';

interface Props {
  readonly tone: 'error' | 'warning' | 'info';
  readonly text: string;
  readonly hint?: string;
  readonly children?: ReactNode;
}

const ICONS: Readonly<Record<Props['tone'], IconName>> = {
  error: 'error',
  warning: 'warning',
  info: 'vitto'
};

export function Message({ tone, text, hint, children }: Props) {
  return (
    <div className={`vitto-message vitto-${tone}`}>
      <Icon name={ICONS[tone]} />
      <div className="vitto-message-body">
        <p className="vitto-message-text">{text}</p>
        {hint && <p className="vitto-message-hint">{hint}</p>}
        {children}
      </div>
    </div>
  );
}
