/** An icon in the host's look; decorative, so it always stands beside words or a label. */
import { memo, useLayoutEffect, useRef } from 'react';

import { useHost } from '../context';
import type { IconName } from '../host';

export const Icon = memo(function Icon({ name, spin }: { name: IconName; spin?: boolean }) {
  const host = useHost();
  const ref = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (ref.current) {
      ref.current.replaceChildren();
      host.icon(name, ref.current);
    }
  }, [host, name]);
  return (
    <span ref={ref} aria-hidden="true" className={`vitto-icon${spin ? ' vitto-spin' : ''}`} />
  );
});
