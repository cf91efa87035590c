/**
 * Editing a notebook that is open in this page, through its shared model: what the user has
 * not saved is there, undo works, and focus, selection and mode stay.
 */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import { cellRevision } from '../../../client/revision';
import { changedSpan } from '../../../diff/span';
import { isSourceEdit, type NewCell, type NotebookEdit, type SourceEdit } from './edits';
import { HostError } from './host-error';
import type { Json } from './output-cut';
import type { Place } from './place';
import { planned, stepsBetween, type Steps } from './plan';
import { readOnly } from './read-notebook';
import { keepStates, mirrorRun, type RunOptions } from './run';
import { asOneUndoStep } from './undo';

export type NotebookContext = DocumentRegistry.IContext<INotebookModel>;
export type SharedNotebook = INotebookModel['sharedModel'];

export interface EditOptions extends RunOptions {
  readonly place: Place;
}

/** Revisions of cells as they will be saved; null for one that is gone. */
export type SavedRevisions = Record<string, string | null>;

/**
 * All source edits or none, as one undo step, read back; run edits follow in their order.
 * Answers the revisions of the cells whose text was edited.
 */
export function editNotebook(
  context: NotebookContext,
  edits: readonly NotebookEdit[],
  options: EditOptions
): SavedRevisions {
  const sourceEdits = edits.filter(isSourceEdit);
  const revisions = sourceEdits.length > 0 ? editSources(context, sourceEdits, options.place) : {};
  for (const edit of edits) {
    if (!isSourceEdit(edit)) {
      mirrorRun(context, edit, options);
    }
  }
  return revisions;
}

function editSources(
  context: NotebookContext,
  edits: readonly SourceEdit[],
  place: Place
): SavedRevisions {
  const problem = readOnly(context);
  if (problem !== '') {
    throw new HostError('write_failed', `${problem} Nothing was changed.`);
  }
  const shared = context.model.sharedModel;
  const before = cellsOf(shared);
  const expected = planned(before, edits);
  const steps = stepsBetween(before, expected, place.still);
  place.keep(() => keepStates(context, () => asOneUndoStep(shared, () => applySteps(shared, steps))));
  const revisions = savedRevisions(shared, editedIds(edits));
  if (!isSame(cellsOf(shared), expected) || !holds(revisions, expected)) {
    throw new HostError('write_failed', 'Reading the notebook back gave something else.');
  }
  return revisions;
}

/** `stored` gives a cell that comes with more than its text. */
export function applySteps(
  shared: SharedNotebook,
  { updates, deletions, insertions }: Steps,
  stored: (cellId: string) => Json | null = () => null
): void {
  for (const { index, source } of updates) {
    const cell = shared.getCell(index);
    const span = changedSpan(cell.getSource(), source);
    if (span) {
      cell.updateSource(span.start, span.end, span.text);
    }
  }
  const inserted = insertions.map(({ cell: { cell_id: id, cell_type, source }, from }) => ({
    metadata: {},
    ...(from === null ? stored(id) : shared.getCell(from).toJSON()),
    id,
    cell_type,
    source
  }));
  deletions.forEach(index => shared.deleteCell(index));
  insertions.forEach(({ index }, i) => shared.insertCells(index, inserted.slice(i, i + 1)));
}

function isSame(cells: readonly NewCell[], expected: readonly NewCell[]): boolean {
  return (
    cells.length === expected.length &&
    cells.every(({ cell_id, source }, index) => {
      const wanted = expected[index];
      return cell_id === wanted?.cell_id && source === wanted.source;
    })
  );
}

/** From what a save would write, and only of the cells asked for: saving all takes long. */
function savedRevisions(shared: SharedNotebook, cellIds: ReadonlySet<string>): SavedRevisions {
  const found: SavedRevisions = Object.fromEntries([...cellIds].map(cellId => [cellId, null]));
  for (const cell of shared.cells) {
    if (cellIds.has(cell.getId())) {
      const { cell_type, source } = cell.toJSON();
      found[cell.getId()] = cellRevision(cell_type, Array.isArray(source) ? source.join('') : source);
    }
  }
  return found;
}

function holds(revisions: SavedRevisions, expected: readonly NewCell[]): boolean {
  const wanted = new Map(expected.map(cell => [cell.cell_id, cellRevision(cell.cell_type, cell.source)]));
  return Object.entries(revisions).every(([cellId, revision]) => revision === (wanted.get(cellId) ?? null));
}

function editedIds(edits: readonly SourceEdit[]): Set<string> {
  const ids = edits.map(edit => {
    switch (edit.op) {
      case 'insert_cells':
        return edit.cells.map(({ cell_id }) => cell_id);
      case 'move_cells':
        return edit.cell_ids;
      default:
        return [edit.cell_id];
    }
  });
  return new Set(ids.flat());
}

export function cellsOf(shared: SharedNotebook): NewCell[] {
  return shared.cells.map(cell => ({
    cell_id: cell.getId(),
    cell_type: cell.cell_type,
    source: cell.getSource()
  }));
}
