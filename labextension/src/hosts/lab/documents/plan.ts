/** What source edits make of a notebook's cells, and whether they may. Pure. */
import { cellRevision } from '../../../client/revision';
import { assertNever } from '../../../protocol/assert-never';
import type { NewCell, SourceEdit } from './edits';
import { HostError } from './host-error';

/** The cells after all edits; throws, when one does not fit, before anything was changed. */
export function planned(cells: readonly NewCell[], edits: readonly SourceEdit[]): NewCell[] {
  return edits.reduce<NewCell[]>((now, edit) => after(now, edit), [...cells]);
}

function after(cells: NewCell[], edit: SourceEdit): NewCell[] {
  switch (edit.op) {
    case 'replace_source': {
      const index = checked(cells, edit.cell_id, edit.base);
      return cells.map((cell, i) => (i === index ? { ...cell, source: edit.source } : cell));
    }
    case 'delete_cell': {
      const index = checked(cells, edit.cell_id, edit.base);
      return cells.filter((_, i) => i !== index);
    }
    case 'insert_cells': {
      const taken = edit.cells.find(({ cell_id }) => cells.some(cell => cell.cell_id === cell_id));
      if (taken) {
        throw new HostError('edit_conflict', `There is a cell ${taken.cell_id} already.`);
      }
      const at = insertionIndex(cells, edit.after);
      return [...cells.slice(0, at), ...edit.cells, ...cells.slice(at)];
    }
    default:
      return assertNever(edit);
  }
}

function insertionIndex(cells: readonly NewCell[], place: string): number {
  if (place === 'start') {
    return 0;
  }
  return place === 'end' ? cells.length : found(cells, place) + 1;
}

/** How to get from one list of cells to another: in this order, indexes as they then are. */
export interface Steps {
  readonly updates: readonly { readonly index: number; readonly source: string }[];
  readonly deletions: readonly number[];
  readonly insertions: readonly { readonly index: number; readonly cell: NewCell }[];
}

/**
 * The steps from `before` to `after`. Kept cells stay in their order, as no edit moves one.
 * A shared notebook shows its new list of cells only when a transaction has ended, so the
 * indexes are worked out here and not looked up in between.
 */
export function stepsBetween(before: readonly NewCell[], after: readonly NewCell[]): Steps {
  const wanted = new Map(after.map(cell => [keyOf(cell), cell]));
  const known = new Set(before.map(keyOf));
  const isKept = (cell: NewCell): boolean => wanted.has(keyOf(cell));
  return {
    updates: before.flatMap((cell, index) => {
      const source = wanted.get(keyOf(cell))?.source;
      return source === undefined || source === cell.source ? [] : [{ index, source }];
    }),
    deletions: before.flatMap((cell, index) => (isKept(cell) ? [] : [index])).reverse(),
    insertions: after.flatMap((cell, index) => (known.has(keyOf(cell)) ? [] : [{ index, cell }]))
  };
}

/** A cell of another type under the same id is another cell. */
function keyOf({ cell_id, cell_type }: NewCell): string {
  return `${cell_type} ${cell_id}`;
}

function checked(cells: readonly NewCell[], cellId: string, base: string): number {
  const index = found(cells, cellId);
  const cell = cells[index];
  if (!cell || cellRevision(cell.cell_type, cell.source) !== base) {
    throw new HostError('edit_conflict', `Cell ${cellId} has changed since it was read.`);
  }
  return index;
}

function found(cells: readonly NewCell[], cellId: string): number {
  const index = cells.findIndex(cell => cell.cell_id === cellId);
  if (index < 0) {
    throw new HostError('edit_conflict', `There is no cell ${cellId} any more.`);
  }
  return index;
}
