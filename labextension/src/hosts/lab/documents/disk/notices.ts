/** What the user is told about one document and its file: one notification at a time. */
import { Notification, showErrorMessage } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Notices, Problem } from './follower';
import type { OtherVersion, Report } from './kind';

const SHORT_MS = 8_000;
type Action = Notification.IAction;

export class DiskNotices implements Notices {
  constructor(
    private readonly context: DocumentRegistry.Context,
    private readonly trans: TranslationBundle,
    private readonly show: (title: string, others: readonly OtherVersion[]) => void,
    private readonly open: (path: string) => void
  ) {
    context.disposed.connect(() => this.dismiss());
    context.pathChanged.connect(() => this.settled());
  }

  merged({ taken, unit, others }: Report): void {
    const { trans } = this;
    const merged =
      unit === 'cell'
        ? trans._n('%1 cell was merged', '%1 cells were merged', taken)
        : trans._n('%1 change was merged', '%1 changes were merged', taken);
    if (others.length === 0) {
      this.tell(trans.__('%1 changed on disk: %2.', this.name, merged), 'info', []);
      return;
    }
    const where = others.map(({ label }) => label).slice(0, MOST_NAMED).join(', ');
    const more = others.length > MOST_NAMED ? ', …' : '';
    const both = trans.__('%1 changed in both, yours was kept', `${where}${more}`);
    const what = taken > 0 ? `${merged}; ${both}` : both;
    this.tell(trans.__('%1 changed on disk: %2.', this.name, what), 'warning', [
      {
        label: trans.__('Show the other version'),
        displayType: 'accent',
        callback: () => this.show(trans.__('%1: the other version', this.name), others)
      }
    ]);
  }

  lost(
    problem: Problem,
    { putBack, load }: { readonly putBack: () => void; readonly load: (() => void) | null }
  ): void {
    const { trans, name } = this;
    const message =
      problem === 'empty'
        ? trans.__('%1 is empty on disk now. What is open here was kept.', name)
        : trans.__('%1 cannot be read from disk now. What is open here was kept.', name);
    const actions: Action[] = [
      { label: trans.__('Put it back'), displayType: 'accent', callback: putBack },
      ...(load ? [{ label: trans.__('Load the empty one'), callback: load }] : [])
    ];
    this.tell(message, 'warning', actions);
    this.isAboutFile = true;
  }

  missing(): void {
    if (!this.isAboutFile) {
      const message = this.trans.__('%1 is gone from disk. Saving here writes it again.', this.name);
      this.tell(message, 'warning', []);
      this.isAboutFile = true;
    }
  }

  failed(error: unknown): void {
    void showErrorMessage(this.trans.__('%1 could not be saved', this.name), String(error));
  }

  /** The file has another name now; the document here has not followed it. */
  renamed(path: string): void {
    const { trans, name } = this;
    const to = PathExt.basename(path);
    const message = trans.__('%1 was renamed to %2. What is open here was kept.', name, to);
    this.tell(message, 'warning', [
      { label: trans.__('Open %1', to), displayType: 'accent', callback: () => this.open(path) }
    ]);
    this.isAboutFile = true;
  }

  settled(): void {
    if (this.isAboutFile) {
      this.dismiss();
    }
  }

  private get name(): string {
    return PathExt.basename(this.context.path);
  }

  private tell(message: string, type: 'info' | 'warning', actions: Action[]): void {
    this.dismiss();
    const autoClose = type === 'info' ? SHORT_MS : false;
    this.shown = Notification.emit(message, type, { autoClose, actions });
  }

  private dismiss(): void {
    this.isAboutFile = false;
    if (this.shown !== null) {
      Notification.dismiss(this.shown);
      this.shown = null;
    }
  }

  private shown: string | null = null;
  /** What is shown is that the file is bad or gone, which ends when it is back. */
  private isAboutFile = false;
}

const MOST_NAMED = 3;
