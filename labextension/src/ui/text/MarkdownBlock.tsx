/** One block of markdown, drawn by the host. Finished blocks are drawn once and never again. */
import { memo, useEffect, useRef } from 'react';

import { useUi, type Ui } from '../context';
import { decorate } from './decorate';
import { DrawPace } from './draw-pace';
import { patch } from './patch';

interface Props {
  readonly source: string;
  /** Whether more text may still come. */
  readonly open: boolean;
}

export const MarkdownBlock = memo(function MarkdownBlock({ source, open }: Props) {
  const ui = useUi();
  const ref = useRef<HTMLDivElement>(null);
  const pace = useRef<DrawPace | null>(null);
  useEffect(() => {
    let last: string | null = null;
    const drawing = new DrawPace(ui.draws, async (text, final) => {
      const into = ref.current;
      if (into && text !== last) {
        await drawMarkdown(ui, text, into);
        last = text;
      }
      if (into && final) {
        await ui.host.renderMath(text, into);
      }
    });
    pace.current = drawing;
    return () => {
      drawing.dispose();
      pace.current = null;
    };
  }, [ui]);
  useEffect(() => pace.current?.show(source, !open), [source, open]);
  return <div ref={ref} className="vitto-markdown" />;
});

/** Only what is new is put into the page: what is there already need not be laid out again. */
async function drawMarkdown({ host, words }: Ui, text: string, into: HTMLElement): Promise<void> {
  const drawn = document.createElement('div');
  await host.renderMarkdown(text, drawn);
  decorate(drawn, {
    copyLabel: words.t('Copy the code'),
    copiedLabel: words.t('Copied'),
    tableLabel: words.t('Table'),
    copy: code => host.copy(code),
    icon: (name, icon) => host.icon(name, icon)
  });
  patch(into, drawn);
}
