/** Tells when what the user has in front of them changed; joined, at most about 5 a second. */
import { LabShell, type JupyterFrontEnd } from '@jupyterlab/application';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { NotebookPanel } from '@jupyterlab/notebook';
import { Signal, type ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';
import type { Surroundings } from '../../ui/host';
import { currentWidget } from './current-widget';
import { editorOf, NOWHERE, surroundingsOf } from './places';

const PACE_MS = 200;

export class SurroundingsWatch {
  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly manager: IDocumentManager
  ) {
    app.shell.currentChanged?.connect(() => this.follow(), this);
    layoutOf(app.shell)?.connect(() => this.follow(), this);
    this.follow();
  }

  /** The last known value; keeps its identity while nothing changed. */
  get value(): Surroundings {
    return this.current;
  }

  /** Read again now, e.g. before sending. */
  refresh(): Surroundings {
    const next = surroundingsOf(this.widget, this.manager);
    if (JSON.stringify(next) !== JSON.stringify(this.current)) {
      this.current = next;
    }
    return this.current;
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private follow(): void {
    const widget = currentWidget(this.app, this.manager);
    if (widget !== this.widget) {
      this.release();
      this.widget = widget;
      widget?.disposed.connect(() => this.follow(), this);
      this.watch(widget ? this.manager.contextForWidget(widget)?.model.stateChanged : undefined);
      this.watchContent(widget);
    }
    this.soon();
  }

  private watchContent(widget: Widget | null): void {
    if (widget instanceof NotebookPanel) {
      const { content, sessionContext } = widget;
      this.watch(content.activeCellChanged, () => this.watchEditor(content.activeCell?.editor));
      this.watch(content.model?.contentChanged);
      this.watch(sessionContext.statusChanged);
      this.watch(sessionContext.kernelChanged);
      this.watchEditor(content.activeCell?.editor);
    } else {
      this.watchEditor(editorOf(widget));
    }
  }

  private watchEditor(editor: CodeEditor.IEditor | null | undefined): void {
    this.releaseEditor();
    const selections = editor?.model.selections.changed;
    selections?.connect(this.soon, this);
    this.releaseEditor = () => selections?.disconnect(this.soon, this);
  }

  private watch<S, A>(signal: ISignal<S, A> | undefined, before?: () => void): void {
    signal?.connect(() => {
      before?.();
      this.soon();
    }, this.watched);
  }

  private release(): void {
    this.releaseEditor();
    Signal.clearData(this.watched);
  }

  private soon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const before = this.current;
      if (this.refresh() !== before) {
        this.listeners.forEach(listener => listener());
      }
    }, PACE_MS);
  }

  private current: Surroundings = NOWHERE;
  private widget: Widget | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private releaseEditor: () => void = () => undefined;
  private readonly watched = {};
  private readonly listeners = new Set<() => void>();
}

/** Documents appear and go without having had the focus; other shells do not tell. */
function layoutOf(shell: JupyterFrontEnd.IShell): ISignal<unknown, void> | undefined {
  return shell instanceof LabShell ? shell.layoutModified : undefined;
}
