/** Puts the UI into an element; the only entry that hosts use. */
import { createRoot } from 'react-dom/client';

import { waitingCalls } from '../model/session-view';
import { contextOf, sendPrompt } from './acts';
import { App } from './App';
import { UiContext, type Ui } from './context';
import { Desk } from './desk';
import { DEFAULT_UI_SETTINGS, type MountedUi, type MountOptions } from './host';
import { SurroundingsWatch } from './surroundings-watch';
import { DrawQueue } from './text/draw-queue';

/** Mount into `into`. Restores the last session and loads the providers. */
export function mount(options: MountOptions): MountedUi {
  const { host, transport, store, into } = options;
  const ui: Ui = {
    host,
    transport,
    store,
    desk: new Desk(host.memory, options.settings ?? DEFAULT_UI_SETTINGS),
    surroundings: new SurroundingsWatch(host),
    draws: new DrawQueue(),
    words: {
      t: (text, ...args) => host.t(text, ...args),
      tn: (one, many, n) => host.tn(one, many, n)
    },
    focus: { composer: () => undefined }
  };
  const root = createRoot(into);
  into.classList.add('vitto-root');
  root.render(
    <UiContext.Provider value={ui}>
      <App />
    </UiContext.Provider>
  );
  void store.loadProviders();
  store.restore();
  return handleOf(ui, () => {
    root.unmount();
    ui.surroundings.dispose();
  });
}

function handleOf(ui: Ui, dispose: () => void): MountedUi {
  const { store, desk } = ui;
  return {
    dispose,
    focusComposer: () => ui.focus.composer(),
    ask: (prompt, parts = {}) => {
      const { document = true, selection = true, context } = parts;
      const all = document && selection;
      const given = context ?? (all ? contextOf(ui) : ui.host.turnContext({ document, selection }));
      void sendPrompt(ui, prompt, given);
    },
    prefill: (text, context) => {
      desk.set({ page: 'transcript', draft: text, fixedContext: context ?? null });
      ui.focus.composer();
    },
    openSession: sessionId => {
      desk.set({ page: 'transcript' });
      store.openSession(sessionId);
    },
    newSession: () => {
      desk.set({ page: 'transcript' });
      store.newSession();
    },
    decidePending: decision => {
      const session = store.getSnapshot().session;
      const approval = session && waitingCalls(session.transcript)[0]?.approval;
      if (!session || !approval || session.deciding[approval.approval_id]) {
        return false;
      }
      const { approval_id, digest } = approval;
      void store.decide(approval_id, { decision, digest });
      return true;
    },
    setSettings: settings => desk.set({ settings })
  };
}
