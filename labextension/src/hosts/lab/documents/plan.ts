/** What source edits make of a notebook's cells, and whether they may. Pure. */
import { cellRevision } from '../../../client/revision';
import { longestRise } from '../../../diff/rise';
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
    case 'move_cells': {
      const moved = edit.cell_ids.map(cellId => found(cells, cellId)).map(index => cells[index]);
      const rest = cells.filter(cell => !moved.includes(cell));
      if (new Set(moved).size < moved.length) {
        throw new HostError('edit_conflict', 'A cell can be moved to one place only.');
      }
      const at = insertionIndex(rest, edit.after);
      return [...rest.slice(0, at), ...moved.filter(isCell), ...rest.slice(at)];
    }
    default:
      return assertNever(edit);
  }
}

function isCell(cell: NewCell | undefined): cell is NewCell {
  return cell !== undefined;
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
  /** `from` is where a cell that only moves was before: it goes and comes as it is. */
  readonly insertions: readonly { readonly index: number; readonly cell: NewCell; readonly from: number | null }[];
}

/**
 * The steps from `before` to `after`; as few cells as possible move, and the one called `still`
 * only when others cannot move around it. A shared notebook shows its new list of cells only
 * when a transaction has ended, so the indexes are worked out here, not looked up in between.
 */
export function stepsBetween(
  before: readonly NewCell[],
  after: readonly NewCell[],
  still: string | null = null
): Steps {
  const [keysBefore, keysAfter] = [keysOf(before), keysOf(after)];
  const places = new Map(keysBefore.map((key, index) => [key, index]));
  const wanted = new Map(after.map((cell, index) => [keysAfter[index], cell]));
  const from = keysAfter.map(key => places.get(key) ?? null);
  const pinned = before.findIndex(({ cell_id }) => cell_id === still);
  const stays = stayingPlaces(from, pinned);
  return {
    updates: before.flatMap((cell, index) => {
      const source = wanted.get(keysBefore[index])?.source;
      return source === undefined || source === cell.source ? [] : [{ index, source }];
    }),
    deletions: before.flatMap((_, index) => (stays.has(index) ? [] : [index])).reverse(),
    insertions: after.flatMap((cell, index) => {
      const place = from[index] ?? null;
      return place !== null && stays.has(place) ? [] : [{ index, cell, from: place }];
    })
  };
}

/** Places that may stay: a rising part of them, through `pinned` when it is among them. */
function stayingPlaces(places: readonly (number | null)[], pinned: number): Set<number> {
  const at = places.indexOf(pinned);
  const fits = (place: number, index: number): boolean =>
    at < 0 || place === pinned || (index < at ? place < pinned : place > pinned);
  return new Set(longestRise(places.filter((place, n): place is number => place !== null && fits(place, n))));
}

/** A cell of another type under the same id is another cell; so is a second one with its id. */
function keysOf(cells: readonly NewCell[]): string[] {
  const counts = new Map<string, number>();
  return cells.map(({ cell_id, cell_type }) => {
    const key = `${cell_type} ${cell_id}`;
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return `${key} ${count}`;
  });
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
