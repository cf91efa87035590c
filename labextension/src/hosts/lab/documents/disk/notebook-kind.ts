/** Following a notebook: merged cell by cell. */
import { CodeCellModel, type ICellModel, type ICodeCellModel } from '@jupyterlab/cells';
import type { INotebookContent } from '@jupyterlab/nbformat';
import {
  isEqual,
  mergeCells,
  type CellConflict,
  type MergedCell,
  type MergedCells
} from '../../../../diff/cell-merge';
import { changedSpan } from '../../../../diff/span';
import type { KernelProcesses } from '../kernel-processes';
import { applySteps, cellsOf, type NotebookContext } from '../notebook';
import type { Json } from '../output-cut';
import type { Place } from '../place';
import { stepsBetween } from '../plan';
import { codeCell, keepStates, trust } from '../run';
import { asOneUndoStep } from '../undo';
import type { DocumentKind, OtherVersion, Report } from './kind';
import {
  hasDoubleIds,
  outputsOf,
  stateOf,
  stateOfFile,
  type DiskNotebook,
  type NotebookState
} from './notebook-state';

export interface NotebookWords {
  readonly cell: (number: number) => string;
  readonly deletedCell: string;
}

export class NotebookKind implements DocumentKind<NotebookState> {
  constructor(
    private readonly context: NotebookContext,
    private readonly processes: KernelProcesses,
    private readonly words: NotebookWords,
    private readonly place: () => Place
  ) {}

  readonly format = 'json';

  state(): NotebookState {
    return stateOf(this.context.model);
  }

  canMerge(): boolean {
    return !hasDoubleIds(this.context.model.cells);
  }

  fileState(content: unknown, like: NotebookState): NotebookState {
    return stateOfFile(notebookOf(content), like.cells);
  }

  isLoss(content: unknown): boolean {
    const sources = notebookOf(content).cells.map(({ source }) => source);
    return areBlank(sources) && !areBlank(cellsOf(this.context.model.sharedModel).map(cell => cell.source));
  }

  takeIn(content: unknown, base: NotebookState | null): { report: Report; base: NotebookState } {
    const { model } = this.context;
    const mine = this.state();
    const before = base ?? (model.dirty ? null : mine);
    const theirs = stateOfFile(notebookOf(content), (before ?? mine).cells);
    const merged = mergeCells(before?.cells ?? null, mine.cells, theirs.cells);
    this.applyText(merged, theirs);
    this.applyRest(merged, theirs);
    const isSame = this.applyMetadata(before?.metadata, mine.metadata, theirs.metadata);
    model.dirty = !(merged.isTheirs && isSame);
    const others = merged.conflicts.map(conflict => this.otherVersion(conflict, merged));
    return { report: { taken: merged.taken, unit: 'cell', others }, base: theirs };
  }

  /** One step of undo; cells that came are whole, with their outputs. */
  private applyText({ cells }: MergedCells, { json }: DiskNotebook): void {
    const shared = this.context.model.sharedModel;
    const wanted = cells.map(({ id, type, source }) => ({ cell_id: id, cell_type: type, source }));
    const place = this.place();
    const steps = stepsBetween(cellsOf(shared), wanted, place.still);
    if (steps.updates.length + steps.deletions.length + steps.insertions.length > 0) {
      const stored = (id: string): Json | null => json.get(id) ?? null;
      const apply = (): void => asOneUndoStep(shared, () => applySteps(shared, steps, stored));
      place.keep(() => keepStates(this.context, apply));
    }
  }

  /** What undo does not bring back: outputs, metadata, attachments. */
  private applyRest({ cells }: MergedCells, { json }: DiskNotebook): void {
    const models = new Map(Array.from(this.context.model.cells, model => [model.id, model]));
    for (const merged of cells) {
      const model = models.get(merged.id);
      const stored = json.get(merged.id);
      if (model && stored && (merged.metadata || merged.takesRun || merged.takesAttachments)) {
        this.applyToCell(model, merged, stored);
      }
    }
  }

  private applyToCell(model: ICellModel, merged: MergedCell, stored: Json): void {
    const { id, theirs, metadata, takesRun, takesAttachments } = merged;
    if (metadata) {
      for (const key of new Set([...Object.keys(model.metadata), ...Object.keys(metadata)])) {
        if (key !== 'trusted') {
          model.setMetadata(key, metadata[key] as never);
        }
      }
    }
    const { sharedModel } = model;
    if (takesAttachments && 'setAttachments' in sharedModel) {
      sharedModel.setAttachments(stored['attachments'] as never);
    }
    const cell = takesRun ? codeCell(this.context, id) : null;
    if (cell && cell.executionState !== 'running') {
      this.takeRun(cell, stored, merged.source === theirs?.source);
    }
  }

  private takeRun(cell: ICodeCellModel, stored: Json, isOfThisSource: boolean): void {
    trust(cell, (stored['metadata'] as Json)['trusted'] === true);
    cell.outputs.fromJSON(outputsOf(stored) as never[]);
    cell.executionCount = stored['execution_count'] as number | null;
    if (isOfThisSource && cell instanceof CodeCellModel) {
      cell.isDirty = false;
    }
    this.processes.forget(this.context, cell.id);
  }

  /** Whether nothing of ours remains. */
  private applyMetadata(base: Json | undefined, mine: Json, theirs: Json): boolean {
    const known = base ?? mine;
    const keys = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
    const differing = keys.filter(key => !isEqual(mine[key], theirs[key]));
    const taken = differing.filter(key => isEqual(mine[key], known[key]));
    taken.forEach(key => this.context.model.setMetadata(key, theirs[key] as never));
    return taken.length === differing.length;
  }

  private otherVersion({ id, mine, theirs }: CellConflict, { cells }: MergedCells): OtherVersion {
    const index = cells.findIndex(cell => cell.id === id);
    const shared = this.context.model.sharedModel;
    const use = (): void => {
      const cell = shared.cells.find(one => one.getId() === id);
      const span = cell && changedSpan(cell.getSource(), theirs ?? '');
      if (cell && span) {
        asOneUndoStep(shared, () => cell.updateSource(span.start, span.end, span.text));
      }
    };
    const isMarkdown = cells[index]?.type === 'markdown';
    const language = isMarkdown ? 'markdown' : this.language();
    return {
      label: index < 0 ? this.words.deletedCell : this.words.cell(index + 1),
      mine: mine ?? '',
      theirs: theirs ?? '',
      language,
      use: index < 0 || mine === null || theirs === null ? null : use
    };
  }

  private language(): string {
    const { model } = this.context;
    return model.getMetadata('language_info')?.name ?? model.getMetadata('kernelspec')?.language ?? '';
  }
}

/** Whether there is any text at all: what shrank to nothing is not believed. */
function areBlank(sources: readonly (string | string[])[]): boolean {
  return sources.every(source => (Array.isArray(source) ? source.join('') : source).trim() === '');
}

/** The contents API has checked it against the format of notebooks. */
function notebookOf(content: unknown): INotebookContent {
  return content as INotebookContent;
}
