/** One block of markdown, drawn by the host. Finished blocks are drawn once and never again. */
import { memo, useEffect, useRef } from 'react';

import { useUi } from '../context';
import { decorate } from './decorate';
import { DrawPace } from './draw-pace';

interface Props {
  readonly source: string;
  /** Whether more text may still come. */
  readonly open: boolean;
}

export const MarkdownBlock = memo(function MarkdownBlock({ source, open }: Props) {
  const { host, words } = useUi();
  const ref = useRef<HTMLDivElement>(null);
  const pace = useRef<DrawPace | null>(null);
  useEffect(() => {
    const drawing = new DrawPace(async text => {
      const into = ref.current;
      if (into) {
        await host.renderMarkdown(text, into);
        decorate(into, {
          copyLabel: words.t('Copy the code'),
          copiedLabel: words.t('Copied'),
          tableLabel: words.t('Table'),
          copy: code => host.copy(code),
          icon: (name, icon) => host.icon(name, icon)
        });
      }
    });
    pace.current = drawing;
    return () => {
      drawing.dispose();
      pace.current = null;
    };
  }, [host, words]);
  useEffect(() => pace.current?.show(source, !open), [source, open]);
  return <div ref={ref} className="vitto-markdown" />;
});
