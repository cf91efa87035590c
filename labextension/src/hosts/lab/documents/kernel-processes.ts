/**
 * Which kernel process made the outputs of which cell, as far as this page saw it: runs of the
 * user's own, and those the server mirrors here. Outputs that came with the file are of unknown
 * origin.
 */
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { NotebookActions, type INotebookModel } from '@jupyterlab/notebook';
import type { Event } from '@jupyterlab/services';
import type { NotebookContext } from './notebook';

const KERNEL_ACTIONS = 'https://events.jupyter.org/jupyter_server/kernel_actions/v1';
type Model = INotebookModel;

export class KernelProcesses {
  constructor(events: Event.IManager, manager: IDocumentManager) {
    events.stream.connect((_, event) => this.onEvent(event));
    NotebookActions.executionScheduled.connect((_, { notebook, cell }) => {
      const context = notebook.parent && manager.contextForWidget(notebook.parent);
      if (context && notebook.model) {
        this.ran({ model: notebook.model, sessionContext: context.sessionContext }, cell.model.id);
      }
    });
  }

  /** Follow the kernel of a notebook; once for each. */
  watch({ sessionContext }: Pick<NotebookContext, 'sessionContext'>): void {
    sessionContext.statusChanged.connect((_, status) => {
      const kernelId = sessionContext.session?.kernel?.id;
      if (kernelId && (status === 'restarting' || status === 'autorestarting' || status === 'dead')) {
        this.restarted(kernelId);
        if (status === 'restarting') {
          this.announced.add(kernelId);
        }
      }
    });
  }

  /** What the cell shows from now on is of the process that runs now. */
  ran(context: Place, cellId: string): void {
    const made = this.made.get(context.model) ?? new Map<string, string | null>();
    this.made.set(context.model, made.set(cellId, this.processOf(context)));
  }

  /** The cell's outputs came from the file. */
  forget({ model }: Place, cellId: string): void {
    this.made.get(model)?.delete(cellId);
  }

  /** Whether a run of the cell was seen here. */
  sawRun({ model }: Place, cellId: string): boolean {
    return this.made.get(model)?.has(cellId) ?? false;
  }

  /** Whether the process that made the outputs has ended; null when that is not known. */
  isGone(context: Place, cellId: string): boolean | null {
    const process = this.made.get(context.model)?.get(cellId) ?? null;
    return process === null ? null : process !== this.processOf(context);
  }

  private processOf({ sessionContext }: Place): string | null {
    const kernelId = sessionContext.session?.kernel?.id;
    return kernelId === undefined ? null : `${kernelId} ${this.restarts.get(kernelId) ?? 0}`;
  }

  /** Restarts by the server or another page; the kernel itself does not tell of them. */
  private onEvent(event: Event.Emission): void {
    const { schema_id, action, kernel_id: kernelId } = event;
    if (schema_id === KERNEL_ACTIONS && action === 'restart' && typeof kernelId === 'string') {
      if (!this.announced.delete(kernelId)) {
        this.restarted(kernelId);
      }
    }
  }

  private restarted(kernelId: string): void {
    this.restarts.set(kernelId, (this.restarts.get(kernelId) ?? 0) + 1);
  }

  private readonly restarts = new Map<string, number>();
  /** Kernels that this page restarts itself: the event that follows is the same restart. */
  private readonly announced = new Set<string>();
  private readonly made = new WeakMap<Model, Map<string, string | null>>();
}

type Place = Pick<NotebookContext, 'model' | 'sessionContext'>;
