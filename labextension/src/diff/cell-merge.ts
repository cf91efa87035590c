/**
 * Three-way merge of notebooks, cell by cell: what the file was (`base`), what is open here
 * (`mine`), what the file is now (`theirs`). Pure.
 *
 * A cell changed on one side only is as that side has it; changed on both, `mine` keeps its
 * text, and the newer run its outputs. A cell is lost only when one side deleted it and the
 * other left it as it was.
 */
import { diffIndices } from 'node-diff3';

type Json = { readonly [key: string]: unknown };

/** A cell as far as a merge looks at it. */
export interface CellState {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly metadata: Json;
  /** Any text that differs when the attachments do. */
  readonly attachments: string;
  /** Any text that differs when outputs or execution count do. */
  readonly run: string;
  /** When the run ended (ISO 8601, "" when unknown) and its execution count. */
  readonly ranAt: string;
  readonly count: number | null;
}

export interface MergedCell {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  /** The cell of `theirs` it comes from or was merged with, null when it is only here. */
  readonly theirs: CellState | null;
  /** It is not here yet. */
  readonly isNew: boolean;
  readonly takesRun: boolean;
  readonly takesAttachments: boolean;
  /** Null when they stay as they are. */
  readonly metadata: Json | null;
}

/** A cell that both sides changed; null for a side that deleted it. */
export interface CellConflict {
  readonly id: string;
  readonly mine: string | null;
  readonly theirs: string | null;
}

export interface MergedCells {
  readonly cells: readonly MergedCell[];
  readonly conflicts: readonly CellConflict[];
  /** How many cells came, went or changed because of `theirs`. */
  readonly taken: number;
  /** The result is `theirs`: nothing of `mine` remains to be saved. */
  readonly isTheirs: boolean;
}

/** Null for `base`: it is not known; then what differs counts as changed by both. */
export function mergeCells(
  base: readonly CellState[] | null,
  mine: readonly CellState[],
  theirs: readonly CellState[]
): MergedCells {
  const before = base ?? theirs.filter(cell => mine.some(own => isSame(own, cell)));
  const sides = { base: byId(before), mine: byId(mine), theirs: byId(theirs) };
  const conflicts: CellConflict[] = [];
  const merged = new Map<string, MergedCell>();
  let taken = 0;
  for (const id of new Set([...sides.theirs.keys(), ...sides.mine.keys()])) {
    const [own, other, old] = [sides.mine.get(id), sides.theirs.get(id), sides.base.get(id)];
    const { cell, isConflict, isTaken } = mergeCell(own, other, old);
    if (cell) {
      merged.set(id, cell);
    }
    if (isConflict) {
      conflicts.push({ id, mine: own?.source ?? null, theirs: other?.source ?? null });
    }
    taken += isTaken ? 1 : 0;
  }
  const cells = mergedOrder(before, mine, theirs).flatMap(id => merged.get(id) ?? []);
  return { cells, conflicts, taken, isTheirs: conflicts.length === 0 && areTheirs(cells, theirs, sides.mine) };
}

/**
 * `cells` with the ids that the same cells have in `known`: by id, else by type and text, else
 * by place between such cells. Notebooks before format 4.5 have no ids.
 */
export function withKnownIds(known: readonly CellState[], cells: readonly CellState[]): CellState[] {
  const ids = new Set(cells.map(cell => cell.id));
  const [left, right] = [known.map(keyed(ids)), cells.map(keyed(new Set(known.map(({ id }) => id))))];
  const changed = diffIndices(left, right);
  const renamed = new Map<number, string>();
  const pair = (at: number, to: number): void => {
    const cell = known[at];
    if (cell && !ids.has(cell.id)) {
      renamed.set(to, cell.id);
    }
  };
  let [at, to] = [0, 0];
  const pairUntil = (end: number): void => {
    for (; at < end; at++, to++) {
      pair(at, to);
    }
  };
  for (const { buffer1: [start, length], buffer2: [, others] } of changed) {
    pairUntil(start);
    pairGap(known, cells, { at, to, length, others }, pair);
    [at, to] = [at + length, to + others];
  }
  pairUntil(known.length);
  return cells.map((cell, index) => ({ ...cell, id: renamed.get(index) ?? cell.id }));
}

// -- inside ---------------------------------------------------------------------------------

interface Outcome {
  readonly cell: MergedCell | null;
  readonly isConflict: boolean;
  readonly isTaken: boolean;
}

function mergeCell(
  mine: CellState | undefined,
  theirs: CellState | undefined,
  base: CellState | undefined
): Outcome {
  if (!theirs) {
    const isUntouched = mine !== undefined && base !== undefined && isSameText(mine, base);
    const isTaken = isUntouched && mine.run === base.run;
    const isConflict = base !== undefined && !isTaken;
    return { cell: isTaken || !mine ? null : kept(mine), isConflict, isTaken };
  }
  if (!mine) {
    const stays = base !== undefined && isSameText(theirs, base);
    const isConflict = base !== undefined && !stays;
    return { cell: stays ? null : fresh(theirs), isConflict, isTaken: !stays };
  }
  return mergeBoth(mine, theirs, base);
}

function mergeBoth(mine: CellState, theirs: CellState, base: CellState | undefined): Outcome {
  const isMineSame = base !== undefined && isSameText(mine, base);
  const isTheirsSame = base !== undefined && isSameText(theirs, base);
  const isConflict = !isMineSame && !isTheirsSame && !isSameText(mine, theirs);
  const { type, source } = isMineSame ? theirs : mine;
  const takesText = !isSameText(mine, { type, source });
  const takesRun = type === theirs.type && takesTheirRun(mine, theirs, base);
  const takesAttachments =
    mine.attachments !== theirs.attachments && mine.attachments === (base?.attachments ?? mine.attachments);
  const metadata = mergedMetadata(mine.metadata, theirs.metadata, base?.metadata);
  const cell = { id: mine.id, type, source, theirs, isNew: false, takesRun, takesAttachments, metadata };
  return { cell, isConflict, isTaken: takesText || takesRun || takesAttachments };
}

function takesTheirRun(mine: CellState, theirs: CellState, base: CellState | undefined): boolean {
  if (mine.run === theirs.run || theirs.run === base?.run) {
    return false;
  }
  return mine.run === base?.run || isNewer(theirs, mine);
}

/** By time where both tell it, else by the count of their kernel. */
function isNewer(run: CellState, than: CellState): boolean {
  if (run.ranAt !== '' && than.ranAt !== '') {
    return Date.parse(run.ranAt) > Date.parse(than.ranAt);
  }
  return (run.count ?? 0) > (than.count ?? 0);
}

/** Key by key, `mine` where both changed one. Null: as `mine` is. */
function mergedMetadata(mine: Json, theirs: Json, base: Json | undefined): Json | null {
  const known = base ?? mine;
  const changed = [...new Set([...Object.keys(theirs), ...Object.keys(known)])].filter(
    key => !isEqual(theirs[key], known[key]) && isEqual(mine[key], known[key])
  );
  if (changed.length === 0) {
    return null;
  }
  const taken = Object.fromEntries(changed.map(key => [key, theirs[key]]));
  const merged = Object.entries({ ...mine, ...taken });
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined));
}

function kept(mine: CellState): MergedCell {
  const { id, type, source } = mine;
  return { id, type, source, theirs: null, isNew: false, ...TAKES_NOTHING };
}

function fresh(theirs: CellState): MergedCell {
  const { id, type, source } = theirs;
  return { id, type, source, theirs, isNew: true, ...TAKES_NOTHING };
}

const TAKES_NOTHING = { takesRun: false, takesAttachments: false, metadata: null };

/** Their order when ours is as it was; else ours, with what is new woven in. */
function mergedOrder(
  base: readonly CellState[],
  mine: readonly CellState[],
  theirs: readonly CellState[]
): string[] {
  const [old, own, other] = [base, mine, theirs].map(cells => cells.map(({ id }) => id));
  const [a = [], b = [], c = []] = [old, own, other];
  return isSameOrder(a, b) ? woven(c, b) : woven(b, c);
}

function isSameOrder(base: readonly string[], mine: readonly string[]): boolean {
  const [inBase, inMine] = [new Set(base), new Set(mine)];
  const common = mine.filter(id => inBase.has(id));
  return base.filter(id => inMine.has(id)).every((id, index) => id === common[index]);
}

/** `order` and what only `other` has, each behind its neighbour there. */
function woven(order: readonly string[], other: readonly string[]): string[] {
  const known = new Set(order);
  const behind = new Map<string | null, string[]>();
  let neighbour: string | null = null;
  for (const id of other) {
    if (known.has(id)) {
      neighbour = id;
    } else {
      behind.set(neighbour, [...(behind.get(neighbour) ?? []), id]);
    }
  }
  return [...(behind.get(null) ?? []), ...order.flatMap(id => [id, ...(behind.get(id) ?? [])])];
}

function areTheirs(
  cells: readonly MergedCell[],
  theirs: readonly CellState[],
  mine: ReadonlyMap<string, CellState>
): boolean {
  return (
    cells.length === theirs.length &&
    cells.every((cell, index) => {
      const wanted = theirs[index];
      const own = cell.isNew ? wanted : mine.get(cell.id);
      return (
        wanted !== undefined &&
        own !== undefined &&
        cell.id === wanted.id &&
        isSameText(cell, wanted) &&
        (cell.takesRun || own.run === wanted.run) &&
        (cell.takesAttachments || own.attachments === wanted.attachments) &&
        isEqual(cell.metadata ?? own.metadata, wanted.metadata)
      );
    })
  );
}

/** What aligns cells: the id when the other side knows it, else type and text. */
function keyed(known: ReadonlySet<string>): (cell: CellState) => string {
  return ({ id, type, source }) => (known.has(id) ? `id ${id}` : `${type} ${source}`);
}

interface Gap {
  readonly at: number;
  readonly to: number;
  readonly length: number;
  readonly others: number;
}

/** Between aligned cells: one after the other, as long as the types fit. */
function pairGap(
  known: readonly CellState[],
  cells: readonly CellState[],
  { at, to, length, others }: Gap,
  pair: (at: number, to: number) => void
): void {
  const ids = new Set(known.map(({ id }) => id));
  for (let n = 0; n < Math.min(length, others); n++) {
    const cell = cells[to + n];
    if (cell && !ids.has(cell.id) && known[at + n]?.type === cell.type) {
      pair(at + n, to + n);
    }
  }
}

function byId(cells: readonly CellState[]): Map<string, CellState> {
  return new Map(cells.map(cell => [cell.id, cell]));
}

type Text = Pick<CellState, 'type' | 'source'>;

function isSameText(one: Text, other: Text): boolean {
  return one.type === other.type && one.source === other.source;
}

function isSame(one: CellState, other: CellState): boolean {
  return one.id === other.id && isSameText(one, other) && one.run === other.run;
}

/** Of JSON, whatever the order of its keys. */
export function isEqual(one: unknown, other: unknown): boolean {
  return one === other || canonical(one) === canonical(other);
}

/** JSON with its keys in order. */
function canonical(value: unknown): string | undefined {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item
  );
}
