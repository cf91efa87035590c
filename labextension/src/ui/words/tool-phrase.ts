/** What a tool call does, in one plain phrase. Pure. */
import type { ToolBlock } from '../../protocol/types';
import type { IconName } from '../host';
import { numberOf, textOf, type JsonRecord } from './json';
import { phrase, plain, type Parts } from './parts';
import { cellsOf, cellsPlace, codePart, filePlace, pathOf } from './places';
import { readPartialInput } from './partial-input';
import type { Translate } from './time';

/** The three forms of a verb: before (and when it did not happen), during, after. */
type Forms = readonly [ahead: string, running: string, done: string];

export interface Words {
  readonly t: Translate;
  tn(one: string, many: string, n: number): string;
}

interface Speech {
  readonly forms: Forms;
  readonly object: Parts;
  readonly detail?: string;
}

/** The phrase for a row, e.g. "Edited cell 4, +3 −1". */
export function toolPhrase(words: Words, block: ToolBlock): Parts {
  const { forms, object, detail } = speechOf(words, block);
  const main = phrase(words.t, forms[tense(block)], object);
  return detail ? [...main, `, ${detail}`] : main;
}

function tense(block: ToolBlock): 0 | 1 | 2 {
  switch (block.state) {
    case 'running':
      return 1;
    case 'done':
      return 2;
    case 'failed':
    case 'cancelled':
      return didRun(block) ? 2 : 0;
    case 'requested':
    case 'waiting':
    case 'denied':
      return 0;
  }
}

/** A run that ended in an error did happen; an edit that failed did not. */
function didRun({ result }: ToolBlock): boolean {
  const metadata = result?.metadata ?? {};
  return 'exit_code' in metadata || 'cells' in metadata || 'seconds' in metadata;
}

function speechOf(words: Words, block: ToolBlock): Speech {
  const { t } = words;
  const input = block.input ?? {};
  const metadata = block.result?.metadata ?? {};
  const path = pathOf(block) || readPartialInput(block.input_json).path;
  const file = filePlace(t, path);
  switch (block.name) {
    case 'read_file':
      return speak(['Read %1', 'Reading %1', 'Read %1'], file, lineCount(words, metadata));
    case 'read_notebook':
      return speak(['Read %1', 'Reading %1', 'Read %1'], file, cellCount(words, metadata));
    case 'write_file':
      return speak(['Write %1', 'Writing %1', 'Wrote %1'], file, changed(metadata));
    case 'edit_file':
      return speak(['Edit %1', 'Editing %1', 'Edited %1'], file, changed(metadata));
    case 'edit_cell':
      return editCell(words, block);
    case 'insert_cells':
      return insertCells(words, block, file);
    case 'delete_cells':
      return speak(['Delete %1', 'Deleting %1', 'Deleted %1'], gone(words, block));
    case 'move_cells':
      return speak(['Move %1', 'Moving %1', 'Moved %1'], moved(words, block));
    case 'run_cells':
    case 'run_cell':
      return speak(['Run %1', 'Running %1', ranForm(metadata)], cells(words, block));
    case 'execute_code':
      return speak(['Run code', 'Running code', goesOn(metadata) ? 'Started code' : 'Ran code'], []);
    case 'run_command':
      return runCommand(t, block);
    case 'search_code':
      return searchCode(words, input, metadata);
    case 'list_files':
      return listFiles(words, input, metadata);
    case 'get_diagnostics':
      return checkFile(words, path, metadata);
    case 'show_diff':
      return speak(['Compare %1', 'Comparing %1', 'Compared %1'], file, changed(metadata));
    case 'inspect_variables':
      return speak(
        ['Look at the variables', 'Looking at the variables', 'Looked at the variables'],
        []
      );
    case 'read_output':
      return readOutput(words, block);
    case 'get_context':
      return speak(
        ['Look at what is open', 'Looking at what is open', 'Looked at what is open'],
        []
      );
    case 'kernel':
      return kernelSpeech(input, file, path);
    default:
      return speak(['Use %1', 'Using %1', 'Used %1'], codePart(block.name));
  }
}

function speak(forms: Forms, object: Parts, detail = ''): Speech {
  return { forms, object, detail };
}

/** A run that went on after its call has only been started by it. */
function ranForm(metadata: JsonRecord): string {
  return goesOn(metadata) ? 'Started %1' : 'Ran %1';
}

function goesOn(metadata: JsonRecord): boolean {
  return textOf(metadata['state']) === 'running';
}

function cells(words: Words, block: ToolBlock): Parts {
  return cellsPlace(words.t, cellsOf(block));
}

/** Cells that are deleted cannot be shown any more. */
function gone(words: Words, block: ToolBlock): Parts {
  const parts = cells(words, block);
  return block.state === 'done' ? [plain(parts)] : parts;
}

/** Before the cells were moved only their ids are known: then they are counted. */
function moved(words: Words, block: ToolBlock): Parts {
  const known = cellsOf(block);
  return known.length > 1 && known.every(ref => !ref.label)
    ? [words.tn('%1 cell', '%1 cells', known.length)]
    : cellsPlace(words.t, known);
}

function readOutput(words: Words, block: ToolBlock): Speech {
  const known = cellsOf(block);
  const forms: Forms = ['Read output of %1', 'Reading output of %1', 'Read output of %1'];
  return known.length
    ? speak(forms, cellsPlace(words.t, known))
    : speak(['Read an output', 'Reading an output', 'Read an output'], []);
}

function editCell(words: Words, block: ToolBlock): Speech {
  const metadata = block.result?.metadata ?? {};
  const ran = goesOn(metadata) ? 'Edited and started %1' : 'Edited and ran %1';
  const forms: Forms =
    block.input?.['run'] === true
      ? ['Edit and run %1', 'Editing and running %1', ran]
      : ['Edit %1', 'Editing %1', 'Edited %1'];
  const known = cellsOf(block);
  const target = known.length ? cellsPlace(words.t, known) : [words.t('a cell')];
  return speak(forms, target, changed(metadata));
}

function insertCells(words: Words, block: ToolBlock, file: Parts): Speech {
  const input = block.input?.['cells'];
  const count = Array.isArray(input) ? input.length : cellsOf(block).length;
  const what: Parts = [count ? words.tn('%1 cell', '%1 cells', count) : words.t('cells')];
  const isOn = goesOn(block.result?.metadata ?? {});
  const ran = isOn ? 'Inserted and started %1' : 'Inserted and ran %1';
  const forms: Forms =
    block.input?.['run'] === true
      ? ['Insert and run %1', 'Inserting and running %1', ran]
      : ['Insert %1', 'Inserting %1', 'Inserted %1'];
  const where = pathOf(block) ? phrase(words.t, ' in %1', file) : [];
  return speak(forms, [...what, ...where]);
}

function runCommand(t: Translate, block: ToolBlock): Speech {
  const typed = textOf(block.input?.['command']) || readPartialInput(block.input_json).text;
  const object: Parts = typed ? codePart(typed) : [t('a command')];
  return speak(['Run %1', 'Running %1', 'Ran %1'], object);
}

function searchCode(words: Words, input: JsonRecord, metadata: JsonRecord): Speech {
  const found = numberOf(metadata['count']);
  const detail = found === null ? '' : words.tn('%1 match', '%1 matches', found);
  const what = codePart(textOf(input['pattern']) || '…', 40);
  return speak(['Search for %1', 'Searching for %1', 'Searched for %1'], what, detail);
}

function listFiles(words: Words, input: JsonRecord, metadata: JsonRecord): Speech {
  const found = numberOf(metadata['count']);
  const detail = found === null ? '' : words.tn('%1 file', '%1 files', found);
  const pattern = textOf(input['pattern']);
  return pattern && pattern !== '**/*'
    ? speak(['List %1', 'Listing %1', 'Listed %1'], codePart(pattern, 40), detail)
    : speak(['List the files', 'Listing the files', 'Listed the files'], [], detail);
}

function checkFile(words: Words, path: string, metadata: JsonRecord): Speech {
  const found = numberOf(metadata['count']);
  const detail =
    found === null
      ? ''
      : found === 0
        ? words.t('no problems')
        : words.tn('%1 problem', '%1 problems', found);
  return path
    ? speak(['Check %1', 'Checking %1', 'Checked %1'], filePlace(words.t, path), detail)
    : speak(
        ['Check for problems', 'Checking for problems', 'Checked for problems'],
        [],
        detail
      );
}

function kernelSpeech(input: JsonRecord, file: Parts, path: string): Speech {
  const of = (verb: readonly [string, string, string]): Speech =>
    speak(path ? verb : [bare(verb[0]), bare(verb[1]), bare(verb[2])], file);
  switch (textOf(input['action'])) {
    case 'restart':
      return of([
        'Restart the kernel of %1',
        'Restarting the kernel of %1',
        'Restarted the kernel of %1'
      ]);
    case 'interrupt':
      return of([
        'Interrupt the kernel of %1',
        'Interrupting the kernel of %1',
        'Interrupted the kernel of %1'
      ]);
    case 'start':
      return of(['Start a kernel for %1', 'Starting a kernel for %1', 'Started a kernel for %1']);
    default:
      return speak(['List kernels', 'Listing kernels', 'Listed kernels'], []);
  }
}

function bare(verb: string): string {
  return verb.replace(/ (?:of|for) %1$/, '');
}

/** "+3 −1"; "" when the result does not count lines. */
function changed(metadata: JsonRecord): string {
  const added = numberOf(metadata['added']);
  const removed = numberOf(metadata['removed']);
  return added === null && removed === null ? '' : `+${added ?? 0} −${removed ?? 0}`;
}

function lineCount(words: Words, metadata: JsonRecord): string {
  const lines = numberOf(metadata['lines']) ?? numberOf(metadata['count']);
  return lines === null ? '' : words.tn('%1 line', '%1 lines', lines);
}

function cellCount(words: Words, metadata: JsonRecord): string {
  const count = numberOf(metadata['count']);
  return count === null ? '' : words.tn('%1 cell', '%1 cells', count);
}

const ICONS: Readonly<Record<string, IconName>> = {
  read_notebook: 'notebook',
  read_file: 'read',
  write_file: 'edit',
  edit_file: 'edit',
  edit_cell: 'edit',
  insert_cells: 'edit',
  delete_cells: 'trash',
  move_cells: 'edit',
  run_cells: 'run',
  run_cell: 'run',
  execute_code: 'run',
  run_command: 'terminal',
  search_code: 'search',
  list_files: 'search',
  kernel: 'kernel',
  inspect_variables: 'kernel'
};

export function toolIcon(name: string): IconName {
  return ICONS[name] ?? 'read';
}
