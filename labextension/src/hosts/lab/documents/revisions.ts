/** Revisions of open documents, made anew only when their content changed. */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { revisionOf } from '../../../client/revision';
import { cellsOf } from './notebook';
import { isNotebook } from './open-documents';
import { isSharedText } from './text';

type Context = DocumentRegistry.Context;

export class Revisions {
  /** Of a text that of its content, of a notebook that of its cells' ids, types and sources. */
  of(context: Context): string {
    const known = this.known.get(context);
    if (known !== undefined) {
      return known;
    }
    const text = textOf(context);
    const revision = text === null ? '' : revisionOf(text);
    this.known.set(context, revision);
    return revision;
  }

  changed(context: Context): void {
    this.known.delete(context);
  }

  private readonly known = new WeakMap<Context, string>();
}

function textOf(context: Context): string | null {
  if (isNotebook(context)) {
    const cells = cellsOf(context.model.sharedModel);
    return cells.map(({ cell_id, cell_type, source }) => `${cell_id}\n${cell_type}\n${source}\0`).join('');
  }
  const shared: object = context.model.sharedModel;
  return isSharedText(shared) ? shared.getSource() : null;
}
