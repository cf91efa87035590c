/** The edits of `edit_notebook`, from untyped JSON. Field names as in workspace/base.py. */
import type { IOutput } from '@jupyterlab/nbformat';
import type { JsonValue } from '../../../protocol/types';
import { HostError } from './host-error';

export interface NewCell {
  readonly cell_id: string;
  readonly cell_type: string;
  readonly source: string;
}

export type SourceEdit =
  | { readonly op: 'replace_source'; readonly cell_id: string; readonly base: string; readonly source: string }
  | { readonly op: 'insert_cells'; readonly after: string; readonly cells: readonly NewCell[] }
  | { readonly op: 'delete_cell'; readonly cell_id: string; readonly base: string }
  | { readonly op: 'move_cells'; readonly cell_ids: readonly string[]; readonly after: string };

export type RunEdit =
  | {
      readonly op: 'begin_run';
      readonly cell_id: string;
      /** Refused when the cell is not at this revision; null runs whatever is there. */
      readonly base: string | null;
      /** The user approved exactly this source: its outputs are shown as those of their own. */
      readonly trusted: boolean;
    }
  | { readonly op: 'add_output'; readonly cell_id: string; readonly output: IOutput }
  | { readonly op: 'set_output'; readonly cell_id: string; readonly index: number; readonly output: IOutput }
  | { readonly op: 'clear_outputs'; readonly cell_id: string }
  | {
      readonly op: 'end_run';
      readonly cell_id: string;
      readonly execution_count: number | null;
      readonly timing: Readonly<Record<string, string>>;
    };

export type NotebookEdit = SourceEdit | RunEdit;

type Json = { readonly [key: string]: JsonValue };

const SOURCE_EDITS = ['replace_source', 'insert_cells', 'delete_cell', 'move_cells'];

export function isSourceEdit(edit: NotebookEdit): edit is SourceEdit {
  return SOURCE_EDITS.includes(edit.op);
}

export function parseEdits(value: JsonValue | undefined): NotebookEdit[] {
  if (!Array.isArray(value)) {
    throw unreadable('edits');
  }
  return value.map(item => parseEdit(object(item)));
}

function parseEdit(edit: Json): NotebookEdit {
  const op = textOf(edit, 'op');
  switch (op) {
    case 'insert_cells':
      return { op, after: textOf(edit, 'after'), cells: parseCells(edit['cells']) };
    case 'replace_source':
      return {
        op,
        cell_id: textOf(edit, 'cell_id'),
        base: textOf(edit, 'base'),
        source: textOf(edit, 'source')
      };
    case 'delete_cell':
      return { op, cell_id: textOf(edit, 'cell_id'), base: textOf(edit, 'base') };
    case 'move_cells':
      return { op, cell_ids: textsOf(edit, 'cell_ids'), after: textOf(edit, 'after') };
    case 'begin_run':
      return {
        op,
        cell_id: textOf(edit, 'cell_id'),
        base: edit['base'] === null ? null : textOf(edit, 'base'),
        trusted: edit['trusted'] === true
      };
    case 'clear_outputs':
      return { op, cell_id: textOf(edit, 'cell_id') };
    case 'add_output':
      return { op, cell_id: textOf(edit, 'cell_id'), output: parseOutput(edit['output']) };
    case 'set_output':
      return {
        op,
        cell_id: textOf(edit, 'cell_id'),
        index: numberOf(edit, 'index'),
        output: parseOutput(edit['output'])
      };
    case 'end_run':
      return {
        op,
        cell_id: textOf(edit, 'cell_id'),
        execution_count: edit['execution_count'] === null ? null : numberOf(edit, 'execution_count'),
        timing: texts(object(edit['timing'] ?? {}))
      };
    default:
      throw unreadable(`op ${op}`);
  }
}

function parseCells(value: JsonValue | undefined): NewCell[] {
  if (!Array.isArray(value)) {
    throw unreadable('cells');
  }
  return value.map(object).map(cell => ({
    cell_id: textOf(cell, 'cell_id'),
    cell_type: textOf(cell, 'cell_type'),
    source: textOf(cell, 'source')
  }));
}

/** An nbformat output; JupyterLab itself ignores what it does not know in one. */
function parseOutput(value: JsonValue | undefined): IOutput {
  const output = object(value);
  return { ...output, output_type: textOf(output, 'output_type') };
}

function object(value: JsonValue | undefined): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw unreadable('an edit');
  }
  return value;
}

function textOf(value: Json, key: string): string {
  const found = value[key];
  if (typeof found !== 'string') {
    throw unreadable(key);
  }
  return found;
}

function textsOf(value: Json, key: string): string[] {
  const found = value[key];
  if (!Array.isArray(found) || !found.every(item => typeof item === 'string')) {
    throw unreadable(key);
  }
  return found;
}

function numberOf(value: Json, key: string): number {
  const found = value[key];
  if (typeof found !== 'number') {
    throw unreadable(key);
  }
  return found;
}

function texts(value: Json): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  );
}

function unreadable(what: string): HostError {
  return new HostError('write_failed', `The page did not understand ${what} of the edit.`);
}
