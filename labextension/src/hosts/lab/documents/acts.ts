/** What the server may ask of a page: one function per host method. */
import type { HostCall, JsonValue } from '../../../protocol/types';
import { parseEdits } from './edits';
import { HostError } from './host-error';
import { editNotebook, readNotebook, type NotebookContext } from './notebook';
import type { OpenDocuments, OpenText } from './open-documents';
import { readText, saved, writeText } from './text';

type Answer = Record<string, JsonValue>;

export async function act(documents: OpenDocuments, { method, params }: HostCall): Promise<Answer> {
  const path = typeof params['path'] === 'string' ? params['path'] : '';
  switch (method) {
    case 'read_text': {
      const { context, shared } = textAt(documents, path);
      return readText(context, shared);
    }
    case 'write_text': {
      const { context, shared } = textAt(documents, path);
      return writeText(context, shared, writeParams(params));
    }
    case 'read_notebook':
      return readNotebook(notebookAt(documents, path));
    case 'edit_notebook': {
      const context = notebookAt(documents, path);
      const recordTiming = documents.panel(context)?.content.notebookConfig.recordTiming ?? false;
      editNotebook(context, parseEdits(params['edits']), { recordTiming });
      return {};
    }
    case 'save':
      await save(documents, path);
      return {};
    default:
      throw new HostError('write_failed', `This page does not know how to do ${method}.`);
  }
}

async function save(documents: OpenDocuments, path: string): Promise<void> {
  const context = documents.notebook(path) ?? documents.text(path)?.context;
  if (!context) {
    throw notOpen(path);
  }
  await saved(context);
}

function notebookAt(documents: OpenDocuments, path: string): NotebookContext {
  const context = documents.notebook(path);
  if (!context) {
    throw notOpen(path);
  }
  return context;
}

function textAt(documents: OpenDocuments, path: string): OpenText {
  const open = documents.text(path);
  if (open) {
    return open;
  }
  throw documents.notebook(path)
    ? new HostError('not_text', `${path} is a notebook; it is not read as text.`)
    : notOpen(path);
}

function notOpen(path: string): HostError {
  return new HostError('not_found', `${path} is not open in this page any more.`);
}

function writeParams(params: HostCall['params']): { base: string | null; text: string } {
  const { base, text } = params;
  if (typeof text !== 'string' || !(typeof base === 'string' || base === null)) {
    throw new HostError('write_failed', 'The page did not understand the write.');
  }
  return { base, text };
}
