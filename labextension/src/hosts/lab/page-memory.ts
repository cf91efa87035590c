/** What survives a reload: the browser's storage, apart for each server and workspace. */
import { PageConfig } from '@jupyterlab/coreutils';

export class PageMemory {
  get(key: string): string | null {
    try {
      return localStorage.getItem(fullKey(key));
    } catch {
      return null; // storage is switched off; nothing is remembered
    }
  }

  set(key: string, value: string | null): void {
    try {
      if (value === null) {
        localStorage.removeItem(fullKey(key));
      } else {
        localStorage.setItem(fullKey(key), value);
      }
    } catch {
      // full or switched off: remembering is a comfort, not a promise
    }
  }
}

function fullKey(key: string): string {
  const workspace = PageConfig.getOption('workspace') || 'default';
  return `vitto:${PageConfig.getBaseUrl()}:${workspace}:${key}`;
}
