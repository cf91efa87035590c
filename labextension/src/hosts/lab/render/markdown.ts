/** Markdown of the model, drawn with JupyterLab's parser and typesetter and nothing remote. */
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { removeMath } from '@jupyterlab/rendermime';
import { cleanHtml, disarmMath, type CleanOptions } from './clean';
import { mountHighlightStyle } from './code';
import { isUnparsable, reachesOut, visible, withFormulas, withPlainFences } from './source';

export interface MarkdownOptions extends CleanOptions {
  /** In place of characters that would not be seen. */
  readonly hiddenLabel: (count: number) => string;
}

/**
 * Draw `text`; the children of `into` are replaced in one step, when all is ready. Of two
 * calls for the same element the later one wins, whichever ends first.
 */
export async function renderMarkdown(
  registry: IRenderMimeRegistry,
  text: string,
  into: HTMLElement,
  options: MarkdownOptions
): Promise<void> {
  const turn = (latest.get(into) ?? 0) + 1;
  latest.set(into, turn);
  const shown = visible(text, options.hiddenLabel);
  const parser = registry.markdownParser;
  if (!parser || isUnparsable(shown)) {
    into.replaceChildren(plain(shown));
    return;
  }
  const { text: prose, math } = removeMath(withPlainFences(shown));
  const html = withFormulas(await parser.render(prose), math);
  const fragment = cleanHtml(html, options);
  const hasFormulas = math.length > 0 && !reachesOut(fragment.textContent ?? '');
  if (latest.get(into) !== turn) {
    return;
  }
  if (fragment.querySelector('pre')) {
    mountHighlightStyle();
  }
  into.replaceChildren(fragment);
  if (hasFormulas) {
    await registry.latexTypesetter?.typeset(into);
    disarmMath(into);
  }
}

const latest = new WeakMap<HTMLElement, number>();

function plain(text: string): HTMLElement {
  const block = document.createElement('pre');
  block.textContent = text;
  return block;
}
