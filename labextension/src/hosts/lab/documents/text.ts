/** Reading and writing a text file that is open in this page, through its shared model. */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { revisionOf } from '../../../client/revision';
import { changedSpan } from '../../../diff/span';
import type { JsonValue } from '../../../protocol/types';
import { HostError } from './host-error';
import { storedByServer } from './shared-save';
import { asOneUndoStep } from './undo';

/** What a text document's shared model can do. */
export interface SharedText {
  getSource(): string;
  updateSource(start: number, end: number, value: string): void;
  transact(change: () => void): void;
}

export function readText(
  { model }: DocumentRegistry.Context,
  shared: SharedText
): Record<string, JsonValue> {
  return { text: shared.getSource(), dirty: model.dirty };
}

/**
 * Changes the span that differs, so that cursor and scroll position stay; reads back. Saved
 * too, unless that would save the user's own unsaved changes.
 */
export async function writeText(
  context: DocumentRegistry.Context,
  shared: SharedText,
  change: { readonly base: string | null; readonly text: string }
): Promise<Record<string, JsonValue>> {
  const { model } = context;
  const wasClean = !model.dirty;
  if (model.readOnly) {
    throw new HostError('write_failed', 'The file is read-only; nothing was changed.');
  }
  const before = shared.getSource();
  if (change.base === null) {
    throw new HostError('edit_conflict', 'There is a file already; it is open in a page.');
  }
  if (revisionOf(before) !== change.base) {
    throw new HostError('edit_conflict', 'The file has changed since it was read.');
  }
  const span = changedSpan(before, change.text);
  if (span) {
    asOneUndoStep(shared, () => shared.updateSource(span.start, span.end, span.text));
  }
  if (shared.getSource() !== change.text) {
    throw new HostError('write_failed', 'Reading the file back gave something else.');
  }
  if (wasClean && span) {
    await saved(context);
  }
  return readText(context, shared);
}

/** Saves, or says why not. */
export async function saved(context: DocumentRegistry.Context): Promise<void> {
  try {
    await (context.model.collaborative ? storedByServer(context) : context.save());
  } catch (error) {
    throw new HostError('write_failed', `${context.path} could not be saved: ${String(error)}`);
  }
}

export function isSharedText(shared: object): shared is SharedText {
  return 'getSource' in shared && 'updateSource' in shared && 'transact' in shared;
}
