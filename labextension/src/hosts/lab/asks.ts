/** What menu entries and shortcuts put to Vitto: the prompt, and exactly what goes along. */
import type { Cell } from '@jupyterlab/cells';
import { NotebookPanel } from '@jupyterlab/notebook';
import type { Widget } from '@lumino/widgets';
import type { TurnContext } from '../../protocol/types';
import type { Host } from '../../ui/host';
import type { LabParts } from './parts';
import { currentWidget } from './current-widget';
import { apiPath, editorOf, errorOf, selectionIn } from './places';

export interface Ask {
  readonly prompt: string;
  readonly context: TurnContext;
}

interface Place {
  readonly widget: Widget;
  readonly path: string;
  readonly cell: Cell | null;
  readonly label: string;
}

/** The selection, or the place itself when nothing is selected. Null without a document. */
export function askSelection(parts: LabParts): Ask | null {
  const place = placeOf(parts, false);
  return place && { prompt: '', context: contextOf(place, true) };
}

/** The cell, editor or output that was clicked or is current. */
export function askAbout(parts: LabParts, isFromMenu: boolean): Ask | null {
  const place = placeOf(parts, isFromMenu);
  return place && { prompt: '', context: contextOf(place, false) };
}

export function fix(parts: LabParts, host: Host, isFromMenu: boolean): Ask | null {
  const place = placeOf(parts, isFromMenu);
  if (!place) {
    return null;
  }
  const context = contextOf(place, false);
  if (!place.cell) {
    const prompt = host.t('Find out what is wrong in %1 and fix it.', place.path);
    return { prompt, context };
  }
  const error = errorOf(place.cell.model);
  const prompt = error
    ? host.t('Fix the error in cell %1 (%2).', place.label, error.name)
    : host.t('Find out what is wrong in cell %1 and fix it.', place.label);
  return { prompt, context };
}

function placeOf({ app, documents }: LabParts, isFromMenu: boolean): Place | null {
  const widget = currentWidget(app, documents);
  const context = widget && documents.contextForWidget(widget);
  if (!widget || !context) {
    return null;
  }
  const path = apiPath(documents, context);
  if (!(widget instanceof NotebookPanel)) {
    return { widget, path, cell: null, label: '' };
  }
  const { content } = widget;
  const node = isFromMenu ? app.contextMenuHitTest(e => e.classList.contains('jp-Cell')) : null;
  const cell = content.widgets.find(other => other.node === node) ?? content.activeCell;
  const label = cell ? String(content.widgets.indexOf(cell) + 1) : '';
  return { widget, path, cell, label };
}

function contextOf({ widget, path, cell }: Place, withSelection: boolean): TurnContext {
  const editor = cell ? cell.editor : editorOf(widget);
  const selection = editor && withSelection ? selectionIn(editor, path, cell?.model.id ?? null) : null;
  return {
    path,
    cell_id: cell?.model.id ?? null,
    selection,
    attention: cell ? (errorOf(cell.model)?.text ?? '') : ''
  };
}
