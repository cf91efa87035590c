/**
 * Mirrors a run that the server does: outputs, prompt and state of one cell. Works on the
 * cell's model by id, so a cell that was moved or is not drawn is served too; a cell that is
 * gone was deleted by the user, and its outputs with it.
 */
import { CodeCellModel, type ICodeCellModel } from '@jupyterlab/cells';
import { cellRevision } from '../../../client/revision';
import { assertNever } from '../../../protocol/assert-never';
import type { RunEdit } from './edits';
import { HostError } from './host-error';
import type { KernelProcesses } from './kernel-processes';
import type { NotebookContext } from './notebook';

export interface RunOptions {
  /** The notebook's own setting to keep run times in the cell's metadata. */
  readonly recordTiming: boolean;
  readonly processes: KernelProcesses;
}

export function mirrorRun(context: NotebookContext, edit: RunEdit, options: RunOptions): void {
  const cell = codeCell(context, edit.cell_id);
  if (edit.op === 'begin_run' && edit.base !== null) {
    check(cell, edit.cell_id, edit.base);
  }
  if (!cell) {
    return;
  }
  switch (edit.op) {
    case 'begin_run':
      begin(cell, edit.trusted);
      options.processes.ran(context, cell.id);
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
      mirrored.delete(cell);
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

/**
 * A cell that moves is another one to JupyterLab: it would show as idle and as not edited. Does
 * the change, and keeps what was known of such cells.
 */
export function keepStates({ model }: NotebookContext, change: () => void): void {
  const known = new Map(
    Array.from(model.cells)
      .filter(isCodeModel)
      .map(cell => [cell.id, { cell, state: cell.executionState, isDirty: cell.isDirty }])
  );
  change();
  for (const cell of Array.from(model.cells).filter(isCodeModel)) {
    const before = known.get(cell.id);
    if (before && before.cell !== cell) {
      cell.executionState = before.state;
      cell.isDirty = before.isDirty;
      if (mirrored.has(before.cell)) {
        mirrored.add(cell);
      }
    }
  }
}

function isCodeModel(cell: object): cell is CodeCellModel {
  return cell instanceof CodeCellModel;
}

/** The server that ran cells here was started anew: nothing comes of its runs any more. */
export function endRuns({ model, sessionContext }: NotebookContext): void {
  if (sessionContext.session?.kernel?.status === 'busy') {
    return; // it still knows its runs: only this page was forgotten
  }
  for (const cell of model.cells) {
    if (cell.type === 'code' && mirrored.has(cell as ICodeCellModel)) {
      (cell as ICodeCellModel).executionState = 'idle';
    }
  }
}

/**
 * Shows the outputs of cells as those of a run of the user's own, in this page only: what is
 * trusted by the cell would be saved with it, and signed by the server.
 */
export function showOutputs(context: NotebookContext, cellIds: readonly string[]): void {
  const { dirty } = context.model;
  for (const cellId of cellIds) {
    const cell = codeCell(context, cellId);
    if (cell) {
      cell.outputs.trusted = true;
    }
  }
  context.model.dirty = dirty; // the outputs are the same ones
}

/** Clearing makes a cell trusted, as it has nothing to hide; that is taken back if need be. */
function begin(cell: ICodeCellModel, isTrusted: boolean): void {
  mirrored.add(cell);
  cell.sharedModel.transact(() => cell.clearExecution(), false, 'silent-change');
  cell.executionState = 'running';
  trust(cell, isTrusted);
}

/** Whether the outputs of a cell are shown as those of a run of the user's own. */
export function trust(cell: ICodeCellModel, isTrusted: boolean): void {
  cell.trusted = isTrusted;
  cell.outputs.trusted = isTrusted;
  if (!isTrusted) {
    cell.deleteMetadata('trusted');
  }
}

const mirrored = new WeakSet<ICodeCellModel>();

function check(cell: ICodeCellModel | null, cellId: string, base: string): void {
  if (!cell) {
    throw new HostError('edit_conflict', `There is no code cell ${cellId} any more.`);
  }
  if (cellRevision(cell.type, cell.sharedModel.getSource()) !== base) {
    throw new HostError('edit_conflict', `Cell ${cellId} has changed since it was read.`);
  }
}

export function codeCell({ model }: NotebookContext, cellId: string): ICodeCellModel | null {
  for (const cell of model.cells) {
    if (cell.id === cellId) {
      return cell.type === 'code' ? (cell as ICodeCellModel) : null;
    }
  }
  return null;
}
