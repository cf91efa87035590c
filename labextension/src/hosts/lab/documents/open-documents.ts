/** The documents open in this page: every context, however many widgets show it. */
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { CodeEditor } from '@jupyterlab/codeeditor';
import { CodeMirrorEditor } from '@jupyterlab/codemirror';
import { Signal, type ISignal } from '@lumino/signaling';
import type { HeldDocument } from '../../../protocol/types';
import { currentWidget } from '../current-widget';
import { apiPath, editorOf } from '../places';
import { NotebookPanel } from '@jupyterlab/notebook';
import { problemsOf, type Problem } from './lint';
import { placeIn, type Place } from './place';
import { Revisions } from './revisions';
import { isSharedText, type SharedText } from './text';
import type { NotebookContext } from './notebook';

type Context = DocumentRegistry.Context;

/** An open text file. */
export interface OpenText {
  readonly context: Context;
  readonly shared: SharedText;
}

export interface Held {
  readonly document: HeldDocument;
  readonly problems: readonly Problem[];
}

const AREAS = ['main', 'left', 'right', 'down'] as const;

export class OpenDocuments {
  constructor(
    private readonly app: JupyterFrontEnd,
    private readonly manager: IDocumentManager
  ) {
    for (const area of AREAS) {
      for (const widget of app.shell.widgets(area)) {
        this.add(manager.contextForWidget(widget));
      }
    }
    for (const { name } of app.docRegistry.widgetFactories()) {
      this.watchFactory(name);
    }
    app.docRegistry.changed.connect((_, { type, change, name }) => {
      if (type === 'widgetFactory' && change === 'added' && name) {
        this.watchFactory(name);
      }
    });
    app.shell.currentChanged?.connect(() => this.emit());
  }

  /** Something in `list` may have changed; fires often, also while the user types. */
  get changed(): ISignal<this, void> {
    return this.changes;
  }

  /** A document is loaded and can be read. */
  get opened(): ISignal<this, Context> {
    return this.openings;
  }

  /** All that are loaded; one for all the views of a document. */
  contexts(): Context[] {
    return [...this.known].filter(context => typeOf(context) !== null);
  }

  list(): Held[] {
    const current = currentWidget(this.app, this.manager);
    const active = current && this.manager.contextForWidget(current);
    const held = new Map<string, Held>();
    for (const context of this.known) {
      const type = typeOf(context);
      const path = apiPath(this.manager, context);
      if (type && !held.has(path)) {
        const problems = this.problemsOf(context);
        const { dirty } = context.model;
        held.set(path, {
          document: {
            path,
            type,
            dirty,
            revision: this.revisions.of(context),
            active: context === active,
            problems: problems.length
          },
          problems
        });
      }
    }
    return [...held.values()];
  }

  notebook(path: string): NotebookContext | null {
    const context = this.find(path, 'notebook');
    return context && isNotebook(context) ? context : null;
  }

  text(path: string): OpenText | null {
    const context = this.find(path, 'file');
    const shared = context?.model.sharedModel;
    return context && shared && isSharedText(shared) ? { context, shared } : null;
  }

  /** The widget of an open notebook, for its settings. */
  panel(context: NotebookContext): NotebookPanel | null {
    const widget = this.manager.findWidget(context.path, null);
    return widget instanceof NotebookPanel ? widget : null;
  }

  /** Where the user is in the notebook, or would be on coming back to it. */
  place(context: NotebookContext): Place {
    const current = currentWidget(this.app, this.manager);
    const isHere = current instanceof NotebookPanel && current.context.path === context.path;
    return placeIn(isHere ? current : this.panel(context));
  }

  private find(path: string, type: HeldDocument['type']): Context | null {
    const isWanted = (context: Context): boolean =>
      typeOf(context) === type && apiPath(this.manager, context) === path;
    return [...this.known].find(isWanted) ?? null;
  }

  private watchFactory(name: string): void {
    this.app.docRegistry.addWidgetExtension(name, {
      createNew: (_, context) => this.add(context as Context)
    });
  }

  private add(context: Context | undefined): void {
    if (!context || this.known.has(context)) {
      return;
    }
    this.known.add(context);
    context.disposed.connect(() => {
      this.known.delete(context);
      this.emit();
    });
    context.pathChanged.connect(this.emit, this);
    context.model.stateChanged.connect(this.emit, this);
    context.model.contentChanged.connect(() => {
      this.revisions.changed(context);
      this.emit();
    });
    void context.ready.then(() => {
      if (typeOf(context)) {
        this.openings.emit(context);
      }
      this.emit();
    });
  }

  private problemsOf(context: Context): Problem[] {
    const widget = this.manager.findWidget(context.path, null) ?? null;
    if (widget instanceof NotebookPanel) {
      return widget.content.widgets.flatMap(cell => problemsIn(cell.editor, cell.model.id));
    }
    return problemsIn(editorOf(widget), null);
  }

  private emit(): void {
    this.changes.emit();
  }

  private readonly known = new Set<Context>();
  private readonly revisions = new Revisions();
  private readonly openings = new Signal<this, Context>(this);
  private readonly changes = new Signal<this, void>(this);
}

/** Null for what the server should not ask us about: not loaded, binary, JSON as text. */
function typeOf(context: Context): HeldDocument['type'] | null {
  if (!context.isReady || context.isDisposed) {
    return null;
  }
  if (isNotebook(context)) {
    return 'notebook';
  }
  const isText = context.contentsModel?.format !== 'base64' && !context.path.endsWith('.ipynb');
  return isText && isSharedText(context.model.sharedModel) ? 'file' : null;
}

export function isNotebook(context: DocumentRegistry.Context): context is Context & NotebookContext {
  return 'cells' in context.model;
}

function problemsIn(editor: CodeEditor.IEditor | null, cellId: string | null): Problem[] {
  return editor instanceof CodeMirrorEditor ? problemsOf(editor.state, cellId) : [];
}
