/** What the server may ask of a page: one function per host method. */
import type { HostCall, JsonValue } from '../../../protocol/types';
import { parseEdits } from './edits';
import { HostError } from './host-error';
import type { Outcome } from './disk/follower';
import type { DiskWatch } from './disk/watch';
import type { KernelProcesses } from './kernel-processes';
import { editNotebook, type NotebookContext } from './notebook';
import type { OpenDocuments, OpenText } from './open-documents';
import { readNotebook, readOutputPart } from './read-notebook';
import { readText, saved, writeText } from './text';

type Answer = { [key: string]: JsonValue };

/** What acts work on. */
export interface Parts {
  readonly documents: OpenDocuments;
  readonly processes: KernelProcesses;
  readonly disk: DiskWatch;
}

export async function act(parts: Parts, { method, params }: HostCall): Promise<Answer> {
  const { documents, processes } = parts;
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
      return readNotebook(notebookAt(documents, path), processes);
    case 'output_part':
      return { ...readOutputPart(notebookAt(documents, path), params) };
    case 'edit_notebook': {
      const context = notebookAt(documents, path);
      const recordTiming = documents.panel(context)?.content.notebookConfig.recordTiming ?? false;
      const options = { recordTiming, processes, place: documents.place(context) };
      return { cells: editNotebook(context, parseEdits(params['edits']), options) };
    }
    case 'save':
      await save(parts, path);
      return {};
    case 'look_on_disk':
      return { outcome: await look(parts, path) };
    default:
      throw new HostError('write_failed', `This page does not know how to do ${method}.`);
  }
}

async function save({ documents, disk }: Parts, path: string): Promise<void> {
  const context = documents.notebook(path) ?? documents.text(path)?.context;
  if (!context) {
    throw notOpen(path);
  }
  await disk.look(path);
  if (disk.isBad(context)) {
    throw new HostError('write_failed', `${path} is empty or broken on disk; the user has to decide.`);
  }
  await saved(context);
}

async function look({ disk }: Parts, path: string): Promise<Outcome> {
  const outcome = await disk.look(path);
  if (outcome === null) {
    throw notOpen(path);
  }
  return outcome;
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
