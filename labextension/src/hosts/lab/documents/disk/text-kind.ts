/** Following a text file: merged by lines. */
import type { DocumentRegistry } from '@jupyterlab/docregistry';
import { changedSpans, mergeText, type TextConflict } from '../../../../diff/text-merge';
import type { SharedText } from '../text';
import { asOneUndoStep } from '../undo';
import type { DocumentKind, OtherVersion, Report } from './kind';

/** Beyond this, lines are not compared: what is here stays, and both are shown. */
const MOST_CHARS = 5_000_000;

export class TextKind implements DocumentKind<string> {
  constructor(
    private readonly model: DocumentRegistry.IModel,
    private readonly shared: SharedText,
    private readonly words: { readonly line: (line: number) => string; readonly language: string }
  ) {}

  readonly format = 'text';

  state(): string {
    return this.shared.getSource();
  }

  canMerge(): boolean {
    return true;
  }

  fileState(content: unknown): string {
    return String(content).replace(/\r\n?/g, '\n');
  }

  isLoss(content: unknown): boolean {
    return this.fileState(content).trim() === '' && this.state().trim() !== '';
  }

  takeIn(content: unknown, base: string | null): { report: Report; base: string } {
    const [mine, theirs] = [this.state(), this.fileState(content)];
    const { text, conflicts } = merged(base ?? (this.model.dirty ? null : mine), mine, theirs);
    const spans = changedSpans(mine, text);
    asOneUndoStep(this.shared, () =>
      spans.forEach(({ start, end, text }) => this.shared.updateSource(start, end, text))
    );
    this.model.dirty = text !== theirs;
    const others = conflicts.map(conflict => this.otherVersion(conflict));
    return { report: { taken: spans.length, unit: 'change', others }, base: theirs };
  }

  private otherVersion({ line, mine, theirs }: TextConflict): OtherVersion {
    const { words, shared } = this;
    const use = (): void => {
      const at = shared.getSource().indexOf(mine);
      if (at >= 0 && mine !== '') {
        asOneUndoStep(shared, () => shared.updateSource(at, at + mine.length, theirs));
      }
    };
    const isThere = mine !== '';
    return { label: words.line(line), mine, theirs, language: words.language, use: isThere ? use : null };
  }
}

function merged(base: string | null, mine: string, theirs: string): ReturnType<typeof mergeText> {
  const longest = Math.max(mine.length, theirs.length);
  if (mine === theirs || base === theirs) {
    return { text: mine, conflicts: [] };
  }
  if (mine === base) {
    return { text: theirs, conflicts: [] };
  }
  return base === null || longest > MOST_CHARS
    ? { text: mine, conflicts: [{ line: 1, mine, theirs }] }
    : mergeText(base, mine, theirs);
}
