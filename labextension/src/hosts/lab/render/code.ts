/** Highlighted code and terminal-like text, drawn with JupyterLab's own parts. */
import { jupyterHighlightStyle, type IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { renderText, type IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { EditorView } from '@codemirror/view';
import { syntaxHighlighting } from '@codemirror/language';
import { coloursOnly, isUnparsable } from './source';

/** Longer sources are shown without colours: parsing them would hold up the page. */
const LONGEST_HIGHLIGHT_CHARS = 60_000;

export async function renderCode(
  languages: IEditorLanguageRegistry,
  source: string,
  language: string,
  into: HTMLElement
): Promise<void> {
  const drawn = document.createElement('div');
  const isPlain = source.length > LONGEST_HIGHLIGHT_CHARS || isUnparsable(source);
  const known = isPlain ? null : languages.findBest(language);
  if (known) {
    mountHighlightStyle();
  }
  try {
    await languages.highlight(source, known, drawn);
  } catch (error) {
    if (!(error instanceof RangeError)) {
      throw error;
    }
    drawn.textContent = source; // nested too deeply for the highlighter
  }
  into.replaceChildren(...Array.from(drawn.childNodes));
}

export async function renderAnsi(
  registry: IRenderMimeRegistry,
  text: string,
  into: HTMLElement
): Promise<void> {
  const drawn = document.createElement('div');
  await renderText({ host: drawn, source: coloursOnly(text), sanitizer: registry.sanitizer });
  into.replaceChildren(...Array.from(drawn.childNodes));
}

let isMounted = false;

/** The colours' style sheet comes with the first editor; until then nobody has mounted it. */
export function mountHighlightStyle(): void {
  if (!isMounted) {
    isMounted = true;
    new EditorView({ extensions: syntaxHighlighting(jupyterHighlightStyle) }).destroy();
  }
}
