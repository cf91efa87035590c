/** What the user has in front of them, in words. Pure. */
import type { Selection } from '../../protocol/types';
import type { Surroundings } from '../host';
import { cellName, fileName } from './places';
import type { Words } from './tool-phrase';

/** "Python 3 idle"; "" when there is no kernel. */
export function kernelWords({ t }: Words, name: string, state: string): string {
  if (!name) {
    return '';
  }
  // "unknown" is a kernel that has not said anything yet, which tells nobody anything
  return state && state !== 'unknown' ? t('%1 %2', name, state) : name;
}

/** "analysis.ipynb, Python 3 idle, 2 cells with errors". */
export function seenWords(words: Words, now: Surroundings): string {
  const { t, tn } = words;
  if (now.path === null) {
    return t('No document is open.');
  }
  const parts = [fileName(now.path), kernelWords(words, now.kernelName, now.kernelState)];
  if (now.type === 'notebook') {
    parts.push(tn('%1 cell', '%1 cells', now.cells));
    if (now.cellsWithErrors) {
      parts.push(tn('%1 cell with an error', '%1 cells with errors', now.cellsWithErrors));
    }
  }
  if (now.dirty) {
    parts.push(t('unsaved changes'));
  }
  return parts.filter(Boolean).join(', ');
}

/** "cell 4, lines 2–5", "lines 2–5", "line 2". */
export function selectionWords({ t }: Words, selection: Selection, cellLabel: string): string {
  const lines =
    selection.start_line === selection.end_line
      ? t('line %1', selection.start_line)
      : t('lines %1–%2', selection.start_line, selection.end_line);
  return cellLabel ? `${cellName(t, cellLabel)}, ${lines}` : lines;
}

/** Names a selection, to tell whether it is still the one whose chip was removed. */
export function selectionKey(selection: Selection): string {
  const { path, cell_id, start_line, end_line } = selection;
  return [path, cell_id ?? '', start_line, end_line].join('\n');
}
