/** A before/after pair in the host's diff editor. */
import { useEffect, useRef } from 'react';

import { useHost } from '../context';
import type { DiffInput } from '../host';

export function DiffView({ before, after, language, label }: DiffInput) {
  const host = useHost();
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const into = ref.current;
    return into ? host.renderDiff({ before, after, language, label }, into) : undefined;
  }, [host, before, after, language, label]);
  return <div ref={ref} className="vitto-diff" />;
}
