/** Where the user is in a notebook, kept while its cells change around them. */
import type { NotebookPanel } from '@jupyterlab/notebook';

export interface Place {
  /** The cell the user is in: others move around it. Null when nobody looks at the notebook. */
  readonly still: string | null;
  /** Do the change, and have the same cell active, in the same mode and with the focus, after it. */
  keep(change: () => void): void;
}

export function placeIn(panel: NotebookPanel | null): Place {
  const content = panel?.content;
  const still = content?.activeCell?.model.id ?? null;
  const keep = (change: () => void): void => {
    const hadFocus = content?.node.contains(document.activeElement) ?? false;
    const mode = content?.mode ?? 'command';
    change();
    const index = content?.widgets.findIndex(({ model }) => model.id === still) ?? -1;
    if (!content || index < 0) {
      return;
    }
    // JupyterLab loses its way when cells come and go in front of the active one at once
    content.activeCellIndex = index;
    if (hadFocus && !content.node.contains(document.activeElement)) {
      content.activate();
    }
    if (content.mode !== mode) {
      content.mode = mode;
    }
    if (hadFocus && mode === 'edit') {
      content.activeCell?.editor?.focus();
    }
  };
  return { still, keep };
}
