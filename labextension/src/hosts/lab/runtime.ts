/** Everything behind the panel except the UI itself: loaded when Vitto is first used. */
import { NotebookPanel } from '@jupyterlab/notebook';
import type { Widget } from '@lumino/widgets';
import { HttpTransport } from '../../client/http-transport';
import { runningTurn, waitingCalls } from '../../model/session-view';
import { Store } from '../../model/store';
import type { MountedUi, UiSettings } from '../../ui/host';
import { askAbout, askSelection, fix, type Ask } from './asks';
import { lendDocuments, type Lending } from './documents/lend';
import { showOutputs } from './documents/run';
import { labFetcher } from './fetcher';
import { LabHost } from './lab-host';
import type { LabParts } from './parts';

export class Runtime {
  constructor(private readonly parts: LabParts) {
    this.transport = new HttpTransport(labFetcher(parts.app.serviceManager.serverSettings));
    this.host = new LabHost(parts);
    this.store = new Store(this.transport, this.host.memory);
    this.lending = lendDocuments(parts, this.transport);
    document.addEventListener('visibilitychange', () => this.lookAgain());
  }

  readonly store: Store;

  /** Draw the UI into `into`; it is there, composer and all, when the promise resolves. */
  async mount(into: HTMLElement, settings: UiSettings): Promise<MountedUi> {
    const [{ flushSync }, { mount }] = await Promise.all([
      import('react-dom'),
      import('../../ui/mount')
    ]);
    const { host, transport, store } = this;
    return flushSync(() => mount({ host, transport, store, into, settings }));
  }

  /** The server says that something happened; empty ids mean nothing in particular. */
  wake(hostId: string, sessionId: string): void {
    if (hostId !== '') {
      this.lending.link.wake(hostId);
    } else {
      this.lending.link.lookAgain();
      this.store.wake(sessionId);
    }
  }

  get isRunning(): boolean {
    const { session } = this.store.getSnapshot();
    return session !== null && runningTurn(session.transcript) !== null;
  }

  get isWaiting(): boolean {
    const { session } = this.store.getSnapshot();
    return session !== null && waitingCalls(session.transcript).length > 0;
  }

  askSelection(): Ask | null {
    return askSelection(this.parts);
  }

  askAbout(isFromMenu: boolean): Ask | null {
    return askAbout(this.parts, isFromMenu);
  }

  fix(isFromMenu: boolean): Ask | null {
    return fix(this.parts, this.host, isFromMenu);
  }

  /** Show these cells' outputs as trusted, in this page only; nothing when it is not open. */
  showOutputs(path: string, cellIds: readonly string[]): void {
    const context = this.lending.documents.notebook(path);
    if (context) {
      showOutputs(context, cellIds);
    }
  }

  showSelectedOutputs(widget: Widget | null): void {
    if (widget instanceof NotebookPanel) {
      const cellIds = widget.content.selectedCells.map(({ model }) => model.id);
      showOutputs(widget.context, cellIds);
    }
  }

  /** A page that was hidden may have missed wake-ups. */
  private lookAgain(): void {
    if (document.visibilityState === 'visible') {
      this.lending.link.lookAgain();
      this.lending.disk.lookAtAll();
      const sessionId = this.store.getSnapshot().session?.sessionId;
      if (sessionId) {
        this.store.wake(sessionId);
      }
    }
  }

  private readonly transport: HttpTransport;
  private readonly host: LabHost;
  private readonly lending: Lending;
}
