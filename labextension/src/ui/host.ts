/**
 * Where the UI lives. The Lab side bar implements this with JupyterLab's own parts; a notebook
 * widget will implement it with fewer. `ui/` imports nothing of JupyterLab.
 */
import type { Transport } from '../client/transport';
import type { Store } from '../model/store';
import type { DecisionKind } from '../model/session-view';
import type { Selection, TurnContext } from '../protocol/types';

/** What the user has in front of them now. */
export interface Surroundings {
  /** API path of the current notebook or file, null when there is none. */
  readonly path: string | null;
  readonly type: 'notebook' | 'file' | null;
  readonly dirty: boolean;
  readonly cellId: string | null;
  readonly cellLabel: string | null;
  readonly selection: Selection | null;
  /** Display name and state of the kernel, "" when there is none. */
  readonly kernelName: string;
  readonly kernelState: string;
  readonly cells: number;
  readonly cellsWithErrors: number;
}

export interface Target {
  readonly path: string;
  readonly cellId: string | null;
  readonly line?: number;
}

export type IconName =
  | 'add' | 'sessions' | 'menu' | 'close' | 'stop' | 'send' | 'check' | 'error' | 'running'
  | 'waiting' | 'read' | 'edit' | 'run' | 'terminal' | 'search' | 'kernel' | 'thinking'
  | 'notebook' | 'file' | 'copy' | 'chevron' | 'trash' | 'branch' | 'warning' | 'image' | 'vitto';

export interface Host {
  readonly kind: 'lab';
  /** Translate; `%1`, `%2` … are replaced by the arguments. */
  t(text: string, ...args: readonly (string | number)[]): string;
  /** Plural form; %1 is `n`. */
  tn(one: string, many: string, n: number): string;
  /**
   * Render markdown, sanitised, no remote content, formulas as their source. Resolves when
   * drawn; replaces children. `into` need not be in the page.
   */
  renderMarkdown(text: string, into: HTMLElement): Promise<void>;
  /** Draw the formulas of `text` in the page, where `into` shows it rendered. */
  renderMath(text: string, into: HTMLElement): Promise<void>;
  /** Draw highlighted source (read only); replaces children. `language`: "python", "bash", … */
  renderCode(source: string, language: string, into: HTMLElement): Promise<void>;
  /** Draw terminal-like text with ANSI colours, sanitised; replaces children. */
  renderAnsi(text: string, into: HTMLElement): Promise<void>;
  /** Draw an icon of the host's look as inline SVG; decorative (aria-hidden). */
  icon(name: IconName, into: HTMLElement): void;
  surroundings(): Surroundings;
  /** Called after `surroundings()` changed; returns the way to stop listening. */
  onSurroundings(listener: () => void): () => void;
  /** Open the place and make it visible, without running or editing anything. */
  reveal(target: Target): void;
  openTerminal(name: string): void;
  interruptKernel(path: string): Promise<void>;
  /**
   * Show the outputs of these cells as those of a run of the user's own, in this page only.
   * Left out by a host that draws no outputs: there is then nothing to offer.
   */
  showOutputs?(path: string, cellIds: readonly string[]): Promise<void>;
  openSettings(): void;
  copy(text: string): Promise<void>;
  /** The context to send with a prompt; chips the user removed are already left out. */
  turnContext(parts: { document: boolean; selection: boolean }): TurnContext;
  /** Draw a diff editor (CodeMirror merge); returns the way to dispose it. */
  renderDiff(diff: DiffInput, into: HTMLElement): () => void;
  /** A confirmation in the host's own dialog. */
  confirm(title: string, body: string, action: string): Promise<boolean>;
  /** Something that must survive a reload of the page (last session, draft). */
  readonly memory: { get(key: string): string | null; set(key: string, value: string | null): void };
}

export interface DiffInput {
  readonly before: string;
  readonly after: string;
  readonly language: string;
  /** Name for screen readers, e.g. "Changes of cell 4". */
  readonly label: string;
}

/** Which parts of the surroundings go along with a prompt; `context` replaces them. */
export interface AskParts {
  readonly document?: boolean;
  readonly selection?: boolean;
  readonly context?: TurnContext;
}

/** What `mount` of ui/mount.tsx takes. `store` is made by the host, which also wakes it. */
export interface MountOptions {
  readonly host: Host;
  readonly transport: Transport;
  readonly store: Store;
  readonly into: HTMLElement;
  /** User settings; `onSettings` of the handle replaces them. */
  readonly settings?: UiSettings;
}

/** Settings of the host that the UI follows. */
export interface UiSettings {
  /** Draw the model's thinking as a folded row. */
  readonly showThinking: boolean;
  /** The selection goes along with a prompt unless its chip is removed. */
  readonly sendSelection: boolean;
}

export const DEFAULT_UI_SETTINGS: UiSettings = { showThinking: true, sendSelection: true };

/** The mounted UI as its host sees it: what commands and menus do with it. */
export interface MountedUi {
  dispose(): void;
  focusComposer(): void;
  /** Send a prompt at once (when a turn runs: put it into the composer instead). */
  ask(prompt: string, parts?: AskParts): void;
  /** Put text and, if given, exactly this context into the composer; the user sends it. */
  prefill(text: string, context?: TurnContext): void;
  openSession(sessionId: string): void;
  newSession(): void;
  /** Answer the oldest waiting approval; false when none waits. */
  decidePending(decision: DecisionKind): boolean;
  setSettings(settings: UiSettings): void;
}
