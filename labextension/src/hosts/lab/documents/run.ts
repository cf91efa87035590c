/**
 * Mirrors a run that the server does: outputs, prompt and state of one cell. Works on the
 * cell's model by id, so a cell that was moved or is not drawn is served too; a cell that is
 * gone was deleted by the user, and its outputs with it.
 */
import type { ICodeCellModel } from '@jupyterlab/cells';
import { assertNever } from '../../../protocol/assert-never';
import type { RunEdit } from './edits';
import type { NotebookContext } from './notebook';

export interface RunOptions {
  /** The notebook's own setting to keep run times in the cell's metadata. */
  readonly recordTiming: boolean;
}

export function mirrorRun(context: NotebookContext, edit: RunEdit, options: RunOptions): void {
  const cell = codeCell(context, edit.cell_id);
  if (!cell) {
    return;
  }
  switch (edit.op) {
    case 'begin_run':
      begin(cell);
      return;
    case 'add_output':
      cell.outputs.add(edit.output);
      return;
    case 'set_output':
      if (edit.index < cell.outputs.length) {
        cell.outputs.set(edit.index, edit.output);
      }
      return;
    case 'clear_outputs':
      cell.outputs.clear();
      return;
    case 'end_run':
      cell.executionCount = edit.execution_count;
      cell.executionState = 'idle';
      if (options.recordTiming && Object.keys(edit.timing).length > 0) {
        cell.setMetadata('execution', edit.timing);
      }
      return;
    default:
      assertNever(edit);
  }
}

/** Every run was approved by the user, so what it draws is trusted as a run of their own. */
function begin(cell: ICodeCellModel): void {
  cell.sharedModel.transact(() => cell.clearExecution(), false, 'silent-change');
  cell.executionState = 'running';
  cell.trusted = true;
}

function codeCell({ model }: NotebookContext, cellId: string): ICodeCellModel | null {
  for (const cell of model.cells) {
    if (cell.id === cellId) {
      return cell.type === 'code' ? (cell as ICodeCellModel) : null;
    }
  }
  return null;
}
