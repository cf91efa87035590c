/** The UI's `Host` made of JupyterLab's parts. Loaded with the UI, not before. */
import { Clipboard, Dialog, showDialog } from '@jupyterlab/apputils';
import { KernelAPI } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { TurnContext } from '../../protocol/types';
import type { DiffInput, Host, IconName, Surroundings, Target } from '../../ui/host';
import { COMMANDS } from './commands';
import { drawIcon } from './host-icons';
import type { LabParts } from './parts';
import { PageMemory } from './page-memory';
import { renderAnsi, renderCode } from './render/code';
import { renderMarkdown, renderMath } from './render/markdown';
import { reveal } from './reveal';
import { SurroundingsWatch } from './surroundings';

export class LabHost implements Host {
  constructor(private readonly parts: LabParts) {
    this.trans = parts.translator.load('vitto_jupyter');
    this.watch = new SurroundingsWatch(parts.app, parts.documents);
  }

  readonly kind = 'lab';
  readonly memory = new PageMemory();

  t(text: string, ...args: readonly (string | number)[]): string {
    return this.trans.__(text, ...args);
  }

  tn(one: string, many: string, n: number): string {
    return this.trans._n(one, many, n);
  }

  renderMarkdown(text: string, into: HTMLElement): Promise<void> {
    return renderMarkdown(this.parts, text, into, {
      hiddenLabel: count => `[${this.tn('%1 hidden character', '%1 hidden characters', count)}]`,
      imageLabel: (alt, host) => this.imageLabel(alt, host),
      onPath: path => this.reveal({ path, cellId: null })
    });
  }

  renderMath(text: string, into: HTMLElement): Promise<void> {
    return renderMath(this.parts, text, into);
  }

  renderCode(source: string, language: string, into: HTMLElement): Promise<void> {
    return renderCode(this.parts.languages, source, language, into);
  }

  renderAnsi(text: string, into: HTMLElement): Promise<void> {
    return renderAnsi(this.parts.rendermime, text, into);
  }

  icon(name: IconName, into: HTMLElement): void {
    drawIcon(name, into);
  }

  surroundings(): Surroundings {
    return this.watch.value;
  }

  onSurroundings(listener: () => void): () => void {
    return this.watch.listen(listener);
  }

  reveal(target: Target): void {
    void reveal(this.parts.documents, target);
  }

  openTerminal(name: string): void {
    void this.parts.app.commands.execute('terminal:open', { name });
  }

  /** Works for a notebook that is not open, too. */
  async interruptKernel(path: string): Promise<void> {
    const { sessions, serverSettings } = this.parts.app.serviceManager;
    await sessions.refreshRunning();
    const session = Array.from(sessions.running()).find(model => model.path === path);
    if (session?.kernel) {
      await KernelAPI.interruptKernel(session.kernel.id, serverSettings);
    }
  }

  async showOutputs(path: string, cellIds: readonly string[]): Promise<void> {
    const { commands } = this.parts.app;
    await commands.execute(COMMANDS.showOutputs, { path, cellIds: [...cellIds] });
  }

  openSettings(): void {
    void this.parts.app.commands.execute('settingeditor:open', { query: 'Vitto' });
  }

  async copy(text: string): Promise<void> {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
    } else {
      Clipboard.copyToSystem(text); // pages over plain HTTP have no clipboard object
    }
  }

  turnContext(parts: { document: boolean; selection: boolean }): TurnContext {
    const { path, cellId, selection } = this.watch.refresh();
    return {
      path: parts.document ? path : null,
      cell_id: parts.document ? cellId : null,
      selection: parts.selection ? selection : null,
      attention: ''
    };
  }

  renderDiff(diff: DiffInput, into: HTMLElement): () => void {
    let isGone = false;
    let remove = () => undefined as void;
    void import('./render/diff-view')
      .then(({ drawDiff }) => drawDiff(this.parts.languages, diff, into))
      .then(drawn => {
        remove = drawn;
        if (isGone) {
          remove();
        }
      });
    return () => {
      isGone = true;
      remove();
    };
  }

  async confirm(title: string, body: string, action: string): Promise<boolean> {
    const buttons = [Dialog.cancelButton(), Dialog.warnButton({ label: action })];
    return (await showDialog({ title, body, buttons })).button.accept;
  }

  private imageLabel(alt: string, host: string): string {
    const what = alt === '' ? this.t('image') : this.t('image: %1', alt);
    const where = host === '' ? this.t('not loaded') : this.t('not loaded from %1', host);
    return `[${what}, ${where}]`;
  }

  private readonly trans: TranslationBundle;
  private readonly watch: SurroundingsWatch;
}
