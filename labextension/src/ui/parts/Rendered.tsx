/** Text that the host draws: highlighted code, or terminal text with its colours. */
import { memo, useEffect, useRef } from 'react';

import { useHost } from '../context';

interface Props {
  readonly text: string;
  /** A language to highlight, or "ansi" for terminal text. */
  readonly as: string;
}

export const Rendered = memo(function Rendered({ text, as }: Props) {
  const host = useHost();
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const into = ref.current;
    if (into) {
      void (as === 'ansi' ? host.renderAnsi(text, into) : host.renderCode(text, as, into));
    }
  }, [host, text, as]);
  // jp-RenderedText: where JupyterLab's colours of terminal text apply
  return <div ref={ref} className={as === 'ansi' ? 'vitto-ansi jp-RenderedText' : 'vitto-code'} />;
});
