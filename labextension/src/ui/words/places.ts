/** The names of cells and files in phrases, as links to them. Pure. */
import type { Change, Snippet, ToolBlock } from '../../protocol/types';
import { listOf, recordOf, textOf, type JsonRecord } from './json';
import type { Part, Parts } from './parts';
import type { Translate } from './time';

export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1) || path;
}

/** A file as a link; the folder itself when `path` is "". */
export function filePlace(t: Translate, path: string): Parts {
  return path
    ? [{ kind: 'place', text: fileName(path), target: { path, cellId: null } }]
    : [t('the folder')];
}

/** "cell 4" for the label "4"; labels that are words already stay as they are. */
export function cellName(t: Translate, label: string): string {
  return /^\d/.test(label) ? t('cell %1', label) : label;
}

export interface CellRef {
  readonly path: string;
  readonly cellId: string | null;
  readonly label: string;
}

export function cellPlace(t: Translate, ref: CellRef): Part {
  const text = ref.label ? cellName(t, ref.label) : t('a cell');
  return ref.path && ref.cellId
    ? { kind: 'place', text, target: { path: ref.path, cellId: ref.cellId } }
    : text;
}

/** At most four cells by name, more as a number. */
export function cellsPlace(t: Translate, refs: readonly CellRef[]): Parts {
  const [first] = refs;
  if (!first) {
    return [t('cells')];
  }
  if (refs.length > 4) {
    return [t('%1 cells', refs.length)];
  }
  return refs.flatMap((ref, index) => {
    const part = cellPlace(t, ref);
    return index ? [', ', part] : [part];
  });
}

/** The cells that a call is about: of its result, else of what was shown, else of its input. */
export function cellsOf(block: ToolBlock): readonly CellRef[] {
  const metadata: JsonRecord = block.result?.metadata ?? {};
  const path = pathOf(block);
  const ran = listOf(metadata['cells']).map(entry => cellRef(path, recordOf(entry)));
  if (ran.some(ref => ref.cellId)) {
    return ran;
  }
  const single = cellRef(path, metadata);
  if (single.cellId) {
    return [single];
  }
  const shown = shownCells(block).filter(cell => cell.cell_id);
  if (shown.length) {
    return shown.map(cell => ({ path, cellId: cell.cell_id, label: cell.label ?? '' }));
  }
  return inputCells(path, block.input ?? {});
}

function cellRef(path: string, record: JsonRecord): CellRef {
  return { path, cellId: textOf(record['cell_id']) || null, label: textOf(record['label']) };
}

function shownCells(block: ToolBlock): readonly (Change | Snippet)[] {
  const preview = block.approval?.preview;
  if (preview?.kind === 'diff') {
    return preview.changes;
  }
  return preview?.kind === 'code' ? preview.snippets : [];
}

function inputCells(path: string, input: JsonRecord): readonly CellRef[] {
  const ids = [input['cell_id'], ...listOf(input['cell_ids'])].map(textOf).filter(Boolean);
  return ids.map(cellId => ({ path, cellId, label: '' }));
}

/** The document of a call, "" when there is none. */
export function pathOf(block: ToolBlock): string {
  const preview = block.approval?.preview;
  const shown = preview && 'path' in preview ? (preview.path ?? '') : '';
  return (
    textOf(block.result?.metadata['path']) || textOf(block.input?.['path']) || shown
  );
}

/** The first line of a command or pattern, shortened, as code. */
export function codePart(text: string, limit = 60): Parts {
  const line = text.trim().split('\n', 1)[0] ?? '';
  const short = line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
  const more = short === line && text.trim().includes('\n');
  return [{ kind: 'code', text: more ? `${short} …` : short }];
}

