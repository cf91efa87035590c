/** What following a file on disk needs to know of a kind of document. */

/** A place that both sides changed: what is here was kept. */
export interface OtherVersion {
  /** As people call it: "cell 4", "line 12". */
  readonly label: string;
  /** "" for a side that deleted it. */
  readonly mine: string;
  readonly theirs: string;
  readonly language: string;
  /** Put the other version in place of ours; null when there is no place for it any more. */
  readonly use: (() => void) | null;
}

export interface Report {
  /** How many cells, or spans of a text, were taken from the file. */
  readonly taken: number;
  readonly unit: 'cell' | 'change';
  readonly others: readonly OtherVersion[];
}

/** `State` is what is compared: of the document that is open, or of a file's content. */
export interface DocumentKind<State> {
  /** As the contents API stores it; JupyterLab forgets it with the first save. */
  readonly format: 'json' | 'text';
  state(): State;
  /** Whether what is open can be told apart well enough to be merged. */
  canMerge(): boolean;
  /** `like` lends its cells' ids to a file that has none. */
  fileState(content: unknown, like: State): State;
  /** The file shrank to nothing, and what is open did not: it is not taken for the truth. */
  isLoss(content: unknown): boolean;
  /**
   * Merge the file's content into what is open. `base` is what the file was before, null when
   * that is not known.
   */
  takeIn(content: unknown, base: State | null): { readonly report: Report; readonly base: State };
}
