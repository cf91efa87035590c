/** A read-only diff in JupyterLab's editor look. Loaded with the first diff. */
import { unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { jupyterTheme, type IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import type { DiffInput } from '../../../ui/host';

const CONTEXT_LINES = 3;
const SHORTEST_FOLD_LINES = 5;

/** Draws into `into`; answers the way to take it away. */
export async function drawDiff(
  languages: IEditorLanguageRegistry,
  diff: DiffInput,
  into: HTMLElement
): Promise<() => void> {
  const language = languages.findBest(diff.language);
  const support = language ? (await languages.getLanguage(language))?.support : undefined;
  const view = new EditorView({
    parent: into,
    state: EditorState.create({ doc: diff.after, extensions: extensions(diff, support ?? []) })
  });
  return () => view.destroy();
}

function extensions(diff: DiffInput, language: Extension): Extension[] {
  return [
    jupyterTheme,
    language,
    EditorState.readOnly.of(true),
    EditorView.editable.of(false),
    EditorView.lineWrapping,
    oneSided(diff),
    EditorView.contentAttributes.of({ 'aria-label': diff.label, tabindex: '0' }),
    unifiedMergeView({
      original: diff.before,
      mergeControls: false,
      highlightChanges: true,
      syntaxHighlightDeletions: true,
      collapseUnchanged: { margin: CONTEXT_LINES, minSize: SHORTEST_FOLD_LINES }
    })
  ];
}

/** Of a new or a deleted text, the empty other side is no line and is not shown as one. */
function oneSided({ before, after }: DiffInput): Extension {
  return EditorView.theme({
    ...(before === '' ? { '.cm-deletedChunk': { display: 'none' } } : {}),
    ...(after === '' ? { '.cm-changedLine': { display: 'none' } } : {})
  });
}
