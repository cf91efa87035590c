/**
 * What the user has in front of them: the current document, cell and selection, read from
 * JupyterLab's widgets when asked.
 */
import type { CodeEditor } from '@jupyterlab/codeeditor';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { FileEditor } from '@jupyterlab/fileeditor';
import { NotebookPanel } from '@jupyterlab/notebook';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { Widget } from '@lumino/widgets';
import type { Surroundings } from '../../ui/host';
import type { Selection } from '../../protocol/types';

const LONGEST_SELECTION_CHARS = 20_000;
const LONGEST_TRACEBACK_CHARS = 4_000;

export const NOWHERE: Surroundings = {
  path: null,
  type: null,
  dirty: false,
  cellId: null,
  cellLabel: null,
  selection: null,
  kernelName: '',
  kernelState: '',
  cells: 0,
  cellsWithErrors: 0
};

/** The path as the server knows it: without the prefix of a drive. */
export function apiPath(manager: IDocumentManager, context: DocumentRegistry.Context): string {
  return manager.services.contents.localPath(context.path);
}

export function surroundingsOf(widget: Widget | null, manager: IDocumentManager): Surroundings {
  const context = widget && manager.contextForWidget(widget);
  if (!context) {
    return NOWHERE;
  }
  const path = apiPath(manager, context);
  const place = { ...NOWHERE, path, dirty: context.model.dirty };
  if (widget instanceof NotebookPanel) {
    return { ...place, type: 'notebook', ...notebookPlace(widget, path) };
  }
  const editor = editorOf(widget);
  const selection = editor ? selectionIn(editor, path, null) : null;
  return { ...place, type: 'file', selection };
}

function notebookPlace(panel: NotebookPanel, path: string): Partial<Surroundings> {
  const { content, sessionContext } = panel;
  const cell = content.activeCell;
  const cells = content.model?.cells;
  return {
    cellId: cell?.model.id ?? null,
    cellLabel: cell ? String(content.activeCellIndex + 1) : null,
    selection: cell?.editor ? selectionIn(cell.editor, path, cell.model.id) : null,
    kernelName: sessionContext.hasNoKernel ? '' : sessionContext.kernelDisplayName,
    kernelState: sessionContext.hasNoKernel ? '' : sessionContext.kernelDisplayStatus,
    cells: cells?.length ?? 0,
    cellsWithErrors: cells ? Array.from(cells).filter(model => errorOf(model) !== null).length : 0
  };
}

/** The text editor of a file, if the widget is one. */
export function editorOf(widget: Widget | null): CodeEditor.IEditor | null {
  const content = widget && 'content' in widget ? widget.content : null;
  return content instanceof FileEditor ? content.editor : null;
}

export function selectionIn(
  editor: CodeEditor.IEditor,
  path: string,
  cellId: string | null
): Selection | null {
  const { start, end } = editor.getSelection();
  const [from, to] = [editor.getOffsetAt(start), editor.getOffsetAt(end)].sort((a, b) => a - b);
  const text = editor.model.sharedModel.getSource().slice(from, to);
  if (text.trim() === '') {
    return null;
  }
  return {
    path,
    cell_id: cellId,
    text: text.slice(0, LONGEST_SELECTION_CHARS),
    start_line: Math.min(start.line, end.line) + 1,
    end_line: Math.max(start.line, end.line) + 1
  };
}

interface CellError {
  readonly name: string;
  readonly text: string;
}

/** The error of a cell: its name, and what it says first, then the traceback as plain text. */
export function errorOf(model: { readonly type: string }): CellError | null {
  if (model.type !== 'code') {
    return null;
  }
  const { outputs } = model as ICodeCellModel;
  for (let i = 0; i < outputs.length; i++) {
    if (outputs.get(i).type === 'error') {
      const { ename, evalue, traceback } = outputs.get(i).toJSON();
      const lines = Array.isArray(traceback) ? traceback.join('\n') : '';
      const plain = lines.replace(/\x1b\[[\d;]*m/g, '').slice(-LONGEST_TRACEBACK_CHARS);
      return { name: String(ename), text: `${String(ename)}: ${String(evalue)}\n\n${plain}` };
    }
  }
  return null;
}
