/** Icons are decorative: they always stand beside words or a label. */
import { memo, useLayoutEffect, useRef } from 'react';

import { useHost } from '../context';
import type { IconName } from '../host';

/** Something goes on. */
export function Spinner() {
  return <span aria-hidden="true" className="vitto-icon vitto-spinner" />;
}

export const Icon = memo(function Icon({ name }: { name: IconName }) {
  const host = useHost();
  const ref = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (ref.current) {
      ref.current.replaceChildren();
      host.icon(name, ref.current);
    }
  }, [host, name]);
  return <span ref={ref} aria-hidden="true" className="vitto-icon" />;
});
