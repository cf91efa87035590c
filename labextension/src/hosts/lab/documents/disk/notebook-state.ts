/** Notebooks as a merge compares them: of an open model, and of the file's JSON. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookContent } from '@jupyterlab/nbformat';
import type { INotebookModel } from '@jupyterlab/notebook';
import { OutputAreaModel } from '@jupyterlab/outputarea';
import { withKnownIds, type CellState } from '../../../../diff/cell-merge';
import { joinedOutput, type Json } from '../output-cut';

export interface NotebookState {
  readonly cells: readonly CellState[];
  readonly metadata: Json;
}

/** A file's notebook; `json` has each cell as it is there, texts joined, by the ids of `cells`. */
export interface DiskNotebook extends NotebookState {
  readonly json: ReadonlyMap<string, Json>;
}

export function stateOf(model: INotebookModel): NotebookState {
  const cells = Array.from(model.cells, (cell): CellState => {
    const metadata = comparable(cell.metadata as Json);
    const json = cell.sharedModel as { getAttachments?: () => unknown };
    return {
      id: cell.id,
      type: cell.type,
      source: cell.sharedModel.getSource(),
      metadata,
      attachments: attachmentsKey(json.getAttachments?.()),
      ranAt: ranAt(metadata),
      ...(cell.type === 'code' ? runOf(cell as ICodeCellModel) : NO_RUN)
    };
  });
  return { cells, metadata: model.metadata as Json };
}

/** With the ids that the same cells have in `known`; new ones where the file has none. */
export function stateOfFile(content: INotebookContent, known: readonly CellState[]): DiskNotebook {
  const seen = new Set<string>();
  const stored = content.cells.map(cell => storedCell(cell as unknown as Json, seen));
  const cells = withKnownIds(known, stored.map(cell => fileCellState(cell)));
  const json = new Map(cells.map(({ id }, index) => [id, { ...stored[index], id }]));
  return { cells, json, metadata: content.metadata as unknown as Json };
}

/** The file's outputs as JupyterLab shows them: streams joined, carriage returns applied. */
export function shownOutputs(outputs: readonly Json[]): readonly Json[] {
  const isPlain = outputs.every(
    ({ output_type, name, text }, index) =>
      output_type !== 'stream' ||
      (outputs[index - 1]?.['name'] !== name && !/[\r\b]/.test(String(text)))
  );
  if (isPlain) {
    return outputs;
  }
  const model = new OutputAreaModel({ values: outputs as never[] });
  const shown = model.toJSON() as unknown as Json[];
  model.dispose();
  return shown;
}

export function outputsOf(cell: Json): readonly Json[] {
  return Array.isArray(cell['outputs']) ? (cell['outputs'] as Json[]) : [];
}

export function hasDoubleIds(cells: INotebookModel['cells']): boolean {
  return new Set(Array.from(cells, ({ id }) => id)).size < cells.length;
}

// -- inside ---------------------------------------------------------------------------------

const NO_RUN = { run: '', count: null };

function runOf(cell: ICodeCellModel): { run: string; count: number | null } {
  const { outputs, executionCount: count } = cell;
  const shown = Array.from({ length: outputs.length }, (_, n) => outputs.get(n).toJSON() as Json);
  return { run: runKey(shown, count), count };
}

function storedCell(cell: Json, seen: Set<string>): Json {
  const { id, source, outputs } = cell;
  const own = typeof id === 'string' && !seen.has(id) ? id : newId();
  seen.add(own);
  return {
    ...cell,
    id: own,
    source: Array.isArray(source) ? source.join('') : String(source ?? ''),
    metadata: cell['metadata'] ?? {},
    ...(Array.isArray(outputs) ? { outputs: (outputs as Json[]).map(joinedOutput) } : {})
  };
}

function fileCellState(cell: Json): CellState {
  const metadata = comparable(cell['metadata'] as Json);
  const count = typeof cell['execution_count'] === 'number' ? cell['execution_count'] : null;
  const isCode = cell['cell_type'] === 'code';
  return {
    id: String(cell['id']),
    type: String(cell['cell_type']),
    source: String(cell['source']),
    metadata,
    attachments: attachmentsKey(cell['attachments']),
    ranAt: ranAt(metadata),
    run: isCode ? runKey(shownOutputs(outputsOf(cell)), count) : '',
    count
  };
}

/** As JupyterLab keeps it: `collapsed` in two places, and no trust, which no file holds. */
function comparable(metadata: Json): Json {
  const { trusted: _, ...rest } = metadata;
  const jupyter = rest['jupyter'] as Json | undefined;
  const isHidden = rest['collapsed'] ?? jupyter?.['outputs_hidden'];
  return isHidden === undefined || isHidden === null
    ? rest
    : { ...rest, collapsed: isHidden, jupyter: { ...jupyter, outputs_hidden: isHidden } };
}

function ranAt(metadata: Json): string {
  const times = metadata['execution'] as Json | undefined;
  const time = times?.['shell.execute_reply'] ?? times?.['iopub.status.idle'];
  return typeof time === 'string' ? time : '';
}

function attachmentsKey(attachments: unknown): string {
  const isThere = typeof attachments === 'object' && attachments !== null;
  return isThere && Object.keys(attachments).length > 0 ? hashed(JSON.stringify(attachments)) : '';
}

function runKey(outputs: readonly Json[], count: number | null): string {
  return `${count ?? ''} ${outputs.map(outputKey).join(' ')}`;
}

function outputKey({ output_type, name, text, ename, evalue, traceback, data }: Json): string {
  const parts = Object.entries((data ?? {}) as Json).sort(([a], [b]) => (a < b ? -1 : 1));
  const texts = [name, text, ename, evalue, ...(Array.isArray(traceback) ? traceback : []), ...parts.flat()];
  return `${String(output_type)} ${texts.map(hashOf).join(',')}`;
}

function hashOf(value: unknown): string {
  return hashed(typeof value === 'string' ? value : JSON.stringify(value) ?? '');
}

const WHOLE_CHARS = 65_536;
const SAMPLES = 4_096;

/** Of a long text, its ends and samples between: 100 MB of outputs must not stop the page. */
function hashed(text: string): string {
  if (text.length <= WHOLE_CHARS) {
    return `${text.length}:${fnv(text, 1)}`;
  }
  const ends = text.slice(0, SAMPLES) + text.slice(-SAMPLES);
  return `${text.length}:${fnv(ends, 1)}:${fnv(text, Math.floor(text.length / WHOLE_CHARS))}`;
}

function fnv(text: string, stride: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += stride) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}
