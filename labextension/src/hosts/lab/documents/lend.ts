/** Puts the page's documents and the link to the server together. */
import type { Transport } from '../../../client/transport';
import type { RegisterHost } from '../../../protocol/types';
import type { LabParts } from '../parts';
import { act } from './acts';
import { answerOf } from './host-error';
import { HostLink } from './host-link';
import { OpenDocuments, type Held } from './open-documents';

/** More than the server takes. */
const MOST = 500;

export function lendDocuments({ app, documents }: LabParts, transport: Transport): HostLink {
  const open = new OpenDocuments(app, documents);
  const link = new HostLink(newHostId(), transport, {
    registration: () => registration(open.list()),
    answer: call => answerOf(() => act(open, call))
  });
  open.changed.connect(() => link.documentsChanged());
  window.addEventListener('pagehide', () => link.close());
  window.addEventListener('pageshow', () => link.documentsChanged());
  link.documentsChanged();
  return link;
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
