/** Puts the page's documents and the link to the server together. */
import type { Transport } from '../../../client/transport';
import type { RegisterHost } from '../../../protocol/types';
import type { LabParts } from '../parts';
import { act } from './acts';
import { DiskWatch } from './disk/watch';
import { answerOf } from './host-error';
import { HostLink } from './host-link';
import { KernelProcesses } from './kernel-processes';
import { isNotebook, OpenDocuments, type Held } from './open-documents';
import { endRuns } from './run';

/** More than the server takes. */
const MOST = 500;

export interface Lending {
  readonly link: HostLink;
  readonly documents: OpenDocuments;
  readonly disk: DiskWatch;
}

export function lendDocuments(labParts: LabParts, transport: Transport): Lending {
  const { app, documents } = labParts;
  const open = new OpenDocuments(app, documents);
  const processes = new KernelProcesses(app.serviceManager.events, documents);
  const disk = new DiskWatch(labParts, open, processes);
  const parts = { documents: open, processes, disk };
  const link = new HostLink(newHostId(), transport, {
    registration: () => registration(open.list()),
    answer: call => answerOf(() => act(parts, call)),
    registered: () => disk.lookAtAll(),
    forgotten: () => open.contexts().filter(isNotebook).forEach(endRuns)
  });
  open.changed.connect(() => link.documentsChanged());
  window.addEventListener('pagehide', () => link.close());
  window.addEventListener('pageshow', () => link.documentsChanged());
  link.documentsChanged();
  return { link, documents: open, disk };
}

function registration(held: readonly Held[]): RegisterHost {
  return {
    kind: 'lab',
    documents: held.map(({ document }) => document).slice(0, MOST),
    diagnostics: held
      .flatMap(({ document: { path }, problems }) => problems.map(problem => ({ path, ...problem })))
      .slice(0, MOST),
    closing: false
  };
}

/** New for each page load: the documents of an earlier load are gone. */
function newHostId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  return `host_${Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')}`;
}
