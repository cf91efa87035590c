/** Going to a place: open the document, bring the cell or line into view, change nothing. */
import type { IDocumentManager } from '@jupyterlab/docmanager';
import { NotebookPanel } from '@jupyterlab/notebook';
import type { Target } from '../../ui/host';
import { editorOf } from './places';

export async function reveal(manager: IDocumentManager, target: Target): Promise<void> {
  const widget = manager.openOrReveal(target.path);
  if (!widget) {
    return;
  }
  await widget.revealed;
  await widget.context.ready;
  if (widget instanceof NotebookPanel) {
    await revealCell(widget, target);
    return;
  }
  const editor = editorOf(widget);
  if (editor && target.line !== undefined) {
    const position = { line: target.line - 1, column: 0 };
    editor.setCursorPosition(position);
    editor.revealPosition(position);
  }
}

async function revealCell({ content }: NotebookPanel, { cellId }: Target): Promise<void> {
  const index = content.widgets.findIndex(cell => cell.model.id === cellId);
  if (index >= 0) {
    content.activeCellIndex = index;
    content.deselectAll();
    await content.scrollToItem(index, 'smart');
  }
}
