/** What the server gets of a notebook that is open in this page: small, however big it is. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import { HostError } from './host-error';
import type { KernelProcesses } from './kernel-processes';
import type { NotebookContext } from './notebook';
import { joinedOutput, OutputCutter, outputPart, type Json, type Part } from './output-cut';

type CellModel = ReturnType<NotebookContext['model']['cells']['get']>;

export function readNotebook(context: NotebookContext, processes: KernelProcesses): Json {
  const { model, sessionContext } = context;
  const spec = model.getMetadata('kernelspec');
  const language = model.getMetadata('language_info')?.name ?? spec?.language ?? '';
  const cutter = new OutputCutter();
  return {
    cells: Array.from(model.cells, cell =>
      isCode(cell) ? { ...plain(cell), ...run(context, cell, cutter, processes) } : plain(cell)
    ),
    kernel_name: spec?.name ?? sessionContext.session?.kernel?.name ?? '',
    language: String(language),
    dirty: model.dirty,
    read_only: readOnly(context)
  };
}

/** Why the notebook cannot be edited; "" when it can. */
export function readOnly({ model, contentsModel }: NotebookContext): string {
  if (model.readOnly) {
    return 'The notebook is open for reading only.';
  }
  return contentsModel?.writable === false ? 'The file may not be written.' : '';
}

/** A part of one field of an output, whatever its length. */
export function readOutputPart({ model }: NotebookContext, params: Json): Part {
  const { cell_id, index, field, start, count } = params;
  const cell = Array.from(model.cells).find(({ id }) => id === cell_id);
  const isAsked = typeof index === 'number' && typeof start === 'number' && typeof count === 'number';
  const output = cell && isCode(cell) && isAsked ? outputAt(cell, index) : null;
  const part = output && outputPart(output, String(field), Number(start), Number(count));
  if (!part) {
    throw new HostError('not_found', 'There is no such output any more.');
  }
  return part;
}

function plain(cell: CellModel): Json {
  return {
    cell_id: cell.id,
    cell_type: cell.type,
    source: cell.sharedModel.getSource(),
    execution_count: null,
    outputs: []
  };
}

function run(
  context: NotebookContext,
  cell: ICodeCellModel,
  cutter: OutputCutter,
  processes: KernelProcesses
): Json {
  const count = cell.outputs.length;
  const outputs = Array.from({ length: count }, (_, index) => outputAt(cell, index) ?? {});
  const hasRun = count > 0 || cell.executionCount !== null;
  return {
    execution_count: cell.executionCount,
    outputs: outputs.map(output => cutter.cut(output)),
    edited_since_run: hasRun ? isEdited(cell, processes.sawRun(context, cell.id)) : null,
    kernel_gone: hasRun ? processes.isGone(context, cell.id) : null
  };
}

/** JupyterLab marks what was edited here; of what came with the file it knows nothing. */
function isEdited(cell: ICodeCellModel, sawRun: boolean): boolean | null {
  return cell.isDirty ? true : sawRun ? false : null;
}

/** Copies no text: the strings of an output are shared. */
function outputAt(cell: ICodeCellModel, index: number): Json | null {
  const isThere = index >= 0 && index < cell.outputs.length;
  return isThere ? joinedOutput(cell.outputs.get(index).toJSON() as Json) : null;
}

export function isCode(cell: CellModel): cell is ICodeCellModel {
  return cell.type === 'code';
}

