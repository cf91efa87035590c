/** Markdown of the model, drawn with JupyterLab's parser and typesetter and nothing remote. */
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { removeMath } from '@jupyterlab/rendermime';
import { cleanHtml, disarmMath, type CleanOptions } from './clean';
import { mountHighlightStyle, renderCode } from './code';
import {
  isUnparsable,
  onlyFence,
  reachesOut,
  visible,
  withFormulas,
  withPlainFences,
  type Fence
} from './source';

export interface MarkdownOptions extends CleanOptions {
  /** In place of characters that would not be seen. */
  readonly hiddenLabel: (count: number) => string;
}

/** What of JupyterLab draws. */
export interface Renderers {
  readonly rendermime: IRenderMimeRegistry;
  readonly languages: IEditorLanguageRegistry;
}

/**
 * Draw `text`, formulas as their source; the children of `into` are replaced in one step, when
 * all is ready. Of two calls for the same element the later one wins, whichever ends first.
 */
export async function renderMarkdown(
  renderers: Renderers,
  text: string,
  into: HTMLElement,
  options: MarkdownOptions
): Promise<void> {
  const turn = (latest.get(into) ?? 0) + 1;
  latest.set(into, turn);
  const drawn = await draw(renderers, visible(text, options.hiddenLabel), options);
  if (latest.get(into) === turn) {
    into.replaceChildren(drawn);
  }
}

/** Typeset the formulas of `text` where `into`, a part of the page, shows it. */
export async function renderMath(
  { rendermime }: Renderers,
  text: string,
  into: HTMLElement
): Promise<void> {
  const typesetter = rendermime.latexTypesetter;
  if (!typesetter || isUnparsable(text) || !hasFormulas(text)) {
    return;
  }
  if (!reachesOut(into.textContent ?? '')) {
    await typesetter.typeset(into);
    disarmMath(into);
  }
}

const latest = new WeakMap<HTMLElement, number>();

async function draw(
  { rendermime, languages }: Renderers,
  text: string,
  options: MarkdownOptions
): Promise<Node> {
  const fence = onlyFence(text);
  if (fence) {
    return drawFence(languages, fence);
  }
  if (!rendermime.markdownParser || isUnparsable(text)) {
    return plain(text);
  }
  const { text: prose, math } = removeMath(withPlainFences(text));
  const fragment = cleanHtml(
    withFormulas(await rendermime.markdownParser.render(prose), math),
    options
  );
  if (fragment.querySelector('pre')) {
    mountHighlightStyle();
  }
  return fragment;
}

/** Code alone needs no parser, and no HTML: long code that grows is drawn in less time. */
async function drawFence(
  languages: IEditorLanguageRegistry,
  { language, code }: Fence
): Promise<Node> {
  const block = document.createElement('pre');
  const inner = block.appendChild(document.createElement('code'));
  await renderCode(languages, code, language, inner);
  return block;
}

function hasFormulas(text: string): boolean {
  return onlyFence(text) === null && removeMath(withPlainFences(text)).math.length > 0;
}

function plain(text: string): HTMLElement {
  const block = document.createElement('pre');
  block.textContent = text;
  return block;
}
