/** Which document the user is in. Loaded at once: commands ask it to know if they apply. */
import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { Widget } from '@lumino/widgets';

/**
 * The document widget the user is, or was last, in; before anything had the focus, the one
 * that is seen.
 */
export function currentWidget(app: JupyterFrontEnd, manager: IDocumentManager): Widget | null {
  const { shell } = app;
  const widget = shell.currentWidget ?? firstVisible(shell.widgets('main'));
  return widget && manager.contextForWidget(widget) ? widget : null;
}

function firstVisible(widgets: Iterable<Widget>): Widget | null {
  for (const widget of widgets) {
    if (widget.isVisible) {
      return widget;
    }
  }
  return null;
}
