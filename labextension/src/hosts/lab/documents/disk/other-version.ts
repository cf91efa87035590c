/** Shows what the file has where ours was kept; to copy from, or to take. Loaded when asked for. */
import { Clipboard, Dialog, showDialog } from '@jupyterlab/apputils';
import type { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { drawDiff } from '../../render/diff-view';
import type { OtherVersion } from './kind';

export async function showOtherVersion(
  { languages, trans }: { readonly languages: IEditorLanguageRegistry; readonly trans: TranslationBundle },
  title: string,
  others: readonly OtherVersion[]
): Promise<void> {
  const body = new Widget();
  body.addClass('vitto-other-version');
  const drawn = others.map(other => drawOne(body.node, other, languages, trans));
  await showDialog({ title, body, buttons: [Dialog.okButton({ label: trans.__('Close') })] });
  drawn.forEach(remove => void remove.then(gone => gone()));
}

function drawOne(
  into: HTMLElement,
  { label, mine, theirs, language, use }: OtherVersion,
  languages: IEditorLanguageRegistry,
  trans: TranslationBundle
): Promise<() => void> {
  const section = document.createElement('section');
  const head = document.createElement('header');
  const name = document.createElement('strong');
  name.textContent = trans.__('%1: yours, and what the file has', label);
  head.append(name, button(trans.__('Copy'), () => Clipboard.copyToSystem(theirs)));
  if (use) {
    const take = button(trans.__('Use this version'), () => {
      use();
      take.disabled = true;
      take.textContent = trans.__('Used');
    });
    head.append(take);
  }
  section.append(head);
  into.append(section);
  const names = trans.__('Differences of %1', label);
  return drawDiff(languages, { before: mine, after: theirs, language, label: names }, section);
}

function button(label: string, onClick: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.className = 'jp-mod-styled jp-mod-minimal';
  made.textContent = label;
  made.addEventListener('click', onClick);
  return made;
}
