/**
 * Saving a document that real-time collaboration shares. The server stores it by itself a
 * moment after each change; a save of the page's own would race with that, and lose: JupyterLab
 * would then ask the user whether to overwrite a file that holds just what is shown.
 */
import type { DocumentRegistry } from '@jupyterlab/docregistry';

const STORED_WITHIN_MS = 15_000;

/** Waits until the server has stored all changes; rejects when it does not in time. */
export function storedByServer({ model }: DocumentRegistry.Context): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      model.stateChanged.disconnect(look);
      settle();
    };
    const look = (): void => {
      if (!model.dirty) {
        end(resolve);
      }
    };
    const late = new Error('the server that shares it has not stored it yet');
    const timer = setTimeout(() => end(() => reject(late)), STORED_WITHIN_MS);
    model.stateChanged.connect(look);
    look();
  });
}
