/**
 * Looks at the files of open documents: when the server says that something was saved, when
 * asked, and when the page is back. Documents of real-time collaboration are left to their
 * server, which follows the files itself.
 */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Event } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { LabParts } from '../../parts';
import { apiPath } from '../../places';
import type { KernelProcesses } from '../kernel-processes';
import { isNotebook, type OpenDocuments } from '../open-documents';
import { isSharedText } from '../text';
import { Follower, type Outcome } from './follower';
import type { OtherVersion } from './kind';
import { DiskNotices } from './notices';
import { NotebookKind } from './notebook-kind';
import { TextKind } from './text-kind';

const SCHEMA_ID = 'https://events.jupyter.org/jupyter_server/contents_service/v1';
const CHANGES: readonly unknown[] = ['save', 'upload', 'copy', 'delete', 'rename'];
/** Longer than JupyterLab needs to follow a rename or a save of its own. */
const SETTLE_MS = 1_000;

type Context = DocumentRegistry.Context;

interface Followed {
  readonly look: () => Promise<Outcome>;
  readonly isBad: () => boolean;
  readonly notices: DiskNotices;
}

export class DiskWatch {
  constructor(
    private readonly parts: LabParts,
    private readonly documents: OpenDocuments,
    private readonly processes: KernelProcesses
  ) {
    this.trans = parts.translator.load('vitto_jupyter');
    documents.opened.connect((_, context) => this.follow(context));
    documents.contexts().forEach(context => this.follow(context));
    parts.app.serviceManager.events.stream.connect((_, event) => this.onEvent(event));
  }

  async look(path: string): Promise<Outcome | null> {
    const context = this.at(path)[0];
    return context ? ((await this.followed.get(context)?.look()) ?? 'same') : null;
  }

  lookAtAll(): void {
    this.documents.contexts().forEach(context => this.lookAt(context));
  }

  /** The file is empty or broken, and what is open was kept. */
  isBad(context: Context): boolean {
    return this.followed.get(context)?.isBad() ?? false;
  }

  private follow(context: Context): void {
    if (this.followed.has(context)) {
      return;
    }
    if (isNotebook(context)) {
      this.processes.watch(context);
    }
    if (context.model.collaborative) {
      return;
    }
    const { contents } = this.parts.documents.services;
    const notices = new DiskNotices(
      context,
      this.trans,
      (title, others) => void this.showOthers(title, others),
      path => void this.parts.documents.openOrReveal(path)
    );
    const kind = this.kindOf(context);
    if (kind) {
      // the states of the two kinds never meet
      const follower = new Follower<never>(context, contents, kind as never, notices);
      this.followed.set(context, {
        look: () => follower.look(),
        isBad: () => follower.isBad,
        notices
      });
      this.lookAt(context);
    }
  }

  private kindOf(context: Context): NotebookKind | TextKind | null {
    const { trans } = this;
    if (isNotebook(context)) {
      const words = {
        cell: (number: number) => trans.__('cell %1', number),
        deletedCell: trans.__('a deleted cell')
      };
      return new NotebookKind(context, this.processes, words, () => this.documents.place(context));
    }
    const shared = context.model.sharedModel;
    const language = this.parts.languages.findByFileName(context.path)?.name ?? '';
    const line = (number: number): string => trans.__('line %1', number);
    return isSharedText(shared) ? new TextKind(context.model, shared, { line, language }) : null;
  }

  private onEvent({ schema_id, action, path, source_path: source }: Event.Emission): void {
    if (schema_id !== SCHEMA_ID || !CHANGES.includes(action) || typeof path !== 'string') {
      return;
    }
    if (action === 'save') {
      this.at(path).forEach(context => this.lookAt(context));
      return;
    }
    setTimeout(() => {
      this.at(path).forEach(context => this.lookAt(context));
      if (action === 'rename' && typeof source === 'string') {
        this.at(source).forEach(context => this.followed.get(context)?.notices.renamed(path));
      }
    }, SETTLE_MS);
  }

  private lookAt(context: Context): void {
    this.followed.get(context)?.look().catch(() => undefined); // the server is away: later, then
  }

  private at(path: string): Context[] {
    const wanted = path.replace(/^\/+/, '');
    return this.documents
      .contexts()
      .filter(context => apiPath(this.parts.documents, context) === wanted);
  }

  private async showOthers(title: string, others: readonly OtherVersion[]): Promise<void> {
    const { showOtherVersion } = await import('./other-version');
    await showOtherVersion({ languages: this.parts.languages, trans: this.trans }, title, others);
  }

  private readonly trans: TranslationBundle;
  private readonly followed = new WeakMap<Context, Followed>();
}

