/**
 * Keeps one open document in step with its file. What changed on disk is merged into what is
 * open; JupyterLab then knows the file as it is, and a save asks nothing.
 */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { Contents } from '@jupyterlab/services';
import type { DocumentKind, Report } from './kind';

export type Outcome = 'same' | 'refreshed' | 'merged' | 'conflict' | 'missing';

/** What the user is told; at most one of them is shown for a document. */
export interface Notices {
  merged(report: Report): void;
  /** The file cannot be taken for the truth; what is open was kept. `load`: take it all the same. */
  lost(problem: Problem, answers: { readonly putBack: () => void; readonly load: (() => void) | null }): void;
  missing(): void;
  /** What the user asked for in a notice could not be done. */
  failed(error: unknown): void;
  /** What was said of a file that could not be read, or was gone, is over. */
  settled(): void;
}

export type Problem = 'empty' | 'broken';

type Context = DocumentRegistry.Context;

/** How the contents API answers for a notebook or text that cannot be read as such. */
const BAD_FORMAT = 400;
const WRITING_MS = 400;

export class Follower<State> {
  constructor(
    private readonly context: Context,
    private readonly contents: Contents.IManager,
    private readonly kind: DocumentKind<State>,
    private readonly notices: Notices
  ) {
    if (!context.model.dirty) {
      this.base = kind.state();
    } else {
      void this.inTurn(() => this.recall());
    }
    context.fileChanged.connect(() => this.reloaded());
    this.lookBeforeSaving();
  }

  /** Compare with the file now, after what is under way; callers meanwhile share the answer. */
  look(): Promise<Outcome> {
    this.looking ??= this.inTurn(() => {
      this.looking = null;
      return this.lookNow();
    });
    return this.looking;
  }

  /** The file is empty or cannot be read; what is open was kept. */
  get isBad(): boolean {
    return this.keptFrom !== null;
  }

  private async lookNow(): Promise<Outcome> {
    if (this.context.isDisposed || !this.kind.canMerge()) {
      return 'same';
    }
    const file = await this.get(false);
    if (file === null) {
      this.notices.missing();
      return 'missing';
    }
    if (!this.isChanged(file)) {
      this.settle();
      return 'same';
    }
    const problem = (await this.problem()) && (await later(), await this.problem());
    if (problem) {
      return this.keep(problem);
    }
    const wasDirty = this.keptFrom !== 'clean' && this.context.model.dirty;
    this.settle();
    const report = await this.adopt();
    if ((wasDirty && report.taken > 0) || report.others.length > 0) {
      this.notices.merged(report);
    }
    return report.others.length > 0 ? 'conflict' : wasDirty ? 'merged' : 'refreshed';
  }

  /**
   * A revert that merges instead of loading: the way to have JupyterLab take note of the file
   * as it is now, by what it offers to everybody.
   */
  private async adopt(): Promise<Report> {
    const { context, kind } = this;
    const { model } = context;
    let report: Report = { taken: 0, unit: 'change', others: [] };
    const takeIn = (content: unknown): void => {
      if (!kind.isLoss(content)) {
        const taken = kind.takeIn(content, this.base);
        this.base = taken.base;
        report = taken.report;
      }
    };
    this.isBusy = true;
    Object.assign(model, { fromJSON: takeIn, fromString: takeIn });
    try {
      await context.revert();
    } finally {
      Reflect.deleteProperty(model, 'fromJSON');
      Reflect.deleteProperty(model, 'fromString');
      this.isBusy = false;
    }
    return report;
  }

  /** Why the file cannot be taken for the truth, null when it can. */
  private async problem(): Promise<Problem | null> {
    try {
      const file = await this.get(true);
      return file !== null && this.kind.isLoss(file.content) ? 'empty' : null;
    } catch (error) {
      if (statusOf(error) === BAD_FORMAT) {
        return 'broken';
      }
      throw error;
    }
  }

  /** What is open stays, and counts as unsaved: it is the only copy. */
  private keep(problem: Problem): Outcome {
    const { context } = this;
    if (this.keptFrom === null) {
      this.keptFrom = context.model.dirty ? 'dirty' : 'clean';
      context.model.dirty = true;
      // JupyterLab leaves a text as it is when it loads an empty one
      const canLoad = problem === 'empty' && this.kind.format === 'json';
      this.notices.lost(problem, {
        putBack: () => void this.inTurn(() => this.putBack()).catch(error => this.notices.failed(error)),
        load: canLoad ? () => void this.inTurn(() => this.load()) : null
      });
    }
    return 'conflict';
  }

  private async load(): Promise<void> {
    this.settle();
    await this.context.revert();
  }

  private async putBack(): Promise<void> {
    const { context, contents, kind } = this;
    const { model, contentsModel } = context;
    const content = kind.format === 'json' ? model.toJSON() : model.toString();
    const type = contentsModel?.type ?? 'file';
    await contents.save(context.path, { type, format: kind.format, content });
    this.settle();
    await this.adopt();
  }

  private settle(): void {
    this.keptFrom = null;
    this.notices.settled();
  }

  /** Null when it is gone. */
  private async get(withContent: boolean): Promise<Contents.IModel | null> {
    const { path, contentsModel } = this.context;
    const type = contentsModel?.type ?? 'file';
    const wanted = withContent ? { type, format: this.kind.format } : {};
    try {
      return await this.contents.get(path, { ...wanted, content: withContent, hash: true });
    } catch (error) {
      if (statusOf(error) === 404) {
        return null;
      }
      throw error;
    }
  }

  /** As JupyterLab compares before a save. */
  private isChanged(file: Contents.IModel): boolean {
    const known = this.context.contentsModel;
    if (known?.hash && file.hash) {
      return known.hash !== file.hash;
    }
    const [here, there] = [known?.last_modified, file.last_modified].map(time => Date.parse(time ?? ''));
    return (there ?? NaN) > (here ?? NaN);
  }

  /** Unsaved changes were there before us: the file tells what was saved, if it is still that. */
  private async recall(): Promise<void> {
    const file = await this.get(true).catch(() => null);
    if (file !== null && !this.isChanged(file) && this.base === null) {
      this.base = this.kind.fileState(file.content, this.kind.state());
    }
  }

  /** The user loaded the file as it is. */
  private reloaded(): void {
    if (!this.isBusy && !this.context.model.dirty) {
      this.base = this.kind.state();
    }
  }

  /** There is no other place where a save can wait until the file was looked at. */
  private lookBeforeSaving(): void {
    const { context } = this;
    const save = context.save.bind(context);
    context.save = async () => {
      await this.look().catch(() => undefined);
      await this.inTurn(async () => {
        const state = this.kind.state();
        this.isBusy = true;
        try {
          await save();
        } finally {
          this.isBusy = false;
        }
        this.base = state;
        this.settle();
      });
    };
  }

  private inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = this.turn.then(task);
    this.turn = done.catch(() => undefined);
    return done;
  }

  /** What was in the file when it was last read or written; null when that is not known. */
  private base: State | null = null;
  /** Whether there were unsaved changes when a bad file was not taken in; null: the file is fine. */
  private keptFrom: 'clean' | 'dirty' | null = null;
  private isBusy = false;
  private looking: Promise<Outcome> | null = null;
  private turn: Promise<unknown> = Promise.resolve();
}

/** A program may be in the middle of writing. */
function later(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, WRITING_MS));
}

function statusOf(error: unknown): number {
  const response: unknown =
    typeof error === 'object' && error !== null && 'response' in error ? error.response : null;
  return response instanceof Response ? response.status : 0;
}
