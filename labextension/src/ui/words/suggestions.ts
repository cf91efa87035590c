/** Three first prompts made from what is in front of the user. Pure. */
import type { Surroundings } from '../host';
import { fileName } from './places';
import type { Words } from './tool-phrase';

export function suggestions(words: Words, now: Surroundings): readonly string[] {
  const { t } = words;
  const offered =
    now.type === 'notebook'
      ? notebookSuggestions(words, now)
      : now.path !== null
        ? fileSuggestions(words, now)
        : [
            t('What is in this folder?'),
            t('Create a notebook that loads and plots a CSV file'),
            t('Find the TODO comments in the code')
          ];
  return offered.slice(0, 3);
}

function notebookSuggestions({ t }: Words, now: Surroundings): readonly string[] {
  const first =
    now.cellsWithErrors === 1
      ? [t('Fix the failing cell')]
      : now.cellsWithErrors > 1
        ? [t('Fix the %1 failing cells', now.cellsWithErrors)]
        : [];
  const selected = now.selection ? [t('Explain the selected code')] : [];
  const empty = now.cells <= 1 ? [t('Load and plot a CSV file from this folder')] : [];
  return [
    ...first,
    ...selected,
    ...empty,
    t('Explain what this notebook does'),
    t('Check the results for mistakes'),
    t('Add a short summary at the end')
  ];
}

function fileSuggestions({ t }: Words, now: Surroundings): readonly string[] {
  const name = fileName(now.path ?? '');
  return [
    ...(now.selection ? [t('Explain the selected lines')] : []),
    t('Explain what %1 does', name),
    t('Look for bugs in %1', name),
    t('Write tests for %1', name)
  ];
}
