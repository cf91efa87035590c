/**
 * Reading and editing a notebook that is open in this page, through its shared model: what
 * the user has not saved is there, undo works, and focus, selection and mode stay.
 */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import { changedSpan } from '../../../diff/span';
import type { JsonValue } from '../../../protocol/types';
import { isSourceEdit, type NewCell, type NotebookEdit, type SourceEdit } from './edits';
import { HostError } from './host-error';
import { planned, stepsBetween, type Steps } from './plan';
import { mirrorRun, type RunOptions } from './run';
import { asOneUndoStep } from './undo';

export type NotebookContext = DocumentRegistry.IContext<INotebookModel>;
type SharedNotebook = INotebookModel['sharedModel'];

export function readNotebook({ model, sessionContext }: NotebookContext): Record<string, JsonValue> {
  const spec = model.getMetadata('kernelspec');
  const language = model.getMetadata('language_info')?.name ?? spec?.language ?? '';
  return {
    cells: Array.from(model.cells).map(cell => cellJson(cell.toJSON(), cell.id)),
    kernel_name: spec?.name ?? sessionContext.session?.kernel?.name ?? '',
    language: String(language),
    dirty: model.dirty
  };
}

type NotebookCell = ReturnType<INotebookModel['cells']['get']>;

function cellJson(json: ReturnType<NotebookCell['toJSON']>, cellId: string): JsonValue {
  const isCode = json.cell_type === 'code';
  return {
    cell_id: cellId,
    cell_type: json.cell_type,
    source: Array.isArray(json.source) ? json.source.join('') : json.source,
    execution_count: isCode ? (json.execution_count as number | null) : null,
    outputs: isCode ? (json.outputs as JsonValue[]) : []
  };
}

/** All source edits or none, as one undo step, read back; run edits follow in their order. */
export function editNotebook(
  context: NotebookContext,
  edits: readonly NotebookEdit[],
  options: RunOptions
): void {
  const sourceEdits = edits.filter(isSourceEdit);
  if (sourceEdits.length > 0) {
    editSources(context.model, sourceEdits);
  }
  for (const edit of edits) {
    if (!isSourceEdit(edit)) {
      mirrorRun(context, edit, options);
    }
  }
}

function editSources(model: INotebookModel, edits: readonly SourceEdit[]): void {
  if (model.readOnly) {
    throw new HostError('write_failed', 'The notebook is read-only; nothing was changed.');
  }
  const shared = model.sharedModel;
  const before = cellsOf(shared);
  const expected = planned(before, edits);
  asOneUndoStep(shared, () => apply(shared, stepsBetween(before, expected)));
  const got = cellsOf(shared);
  const isSame =
    got.length === expected.length &&
    got.every((cell, i) => {
      const wanted = expected[i];
      return cell.cell_id === wanted?.cell_id && cell.source === wanted.source;
    });
  if (!isSame) {
    throw new HostError('write_failed', 'Reading the notebook back gave something else.');
  }
}

function apply(shared: SharedNotebook, { updates, deletions, insertions }: Steps): void {
  for (const { index, source } of updates) {
    const cell = shared.getCell(index);
    const span = changedSpan(cell.getSource(), source);
    if (span) {
      cell.updateSource(span.start, span.end, span.text);
    }
  }
  deletions.forEach(index => shared.deleteCell(index));
  for (const { index, cell } of insertions) {
    const { cell_id: id, cell_type, source } = cell;
    shared.insertCells(index, [{ id, cell_type, source, metadata: {} }]);
  }
}

function cellsOf(shared: SharedNotebook): NewCell[] {
  return shared.cells.map(cell => ({
    cell_id: cell.getId(),
    cell_type: cell.cell_type,
    source: cell.getSource()
  }));
}
