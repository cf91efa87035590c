/** The commands: thin, so that loading them costs nothing; the work is behind `Vitto`. */
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { ILauncher } from '@jupyterlab/launcher';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { vittoIcon } from './icons';
import type { Ask } from './asks';
import { currentWidget } from './current-widget';
import type { Runtime } from './runtime';
import type { Vitto } from './vitto';

/** Ids are public: shortcuts, menus and other extensions use them. */
export const COMMANDS = {
  open: 'vitto:open',
  newSession: 'vitto:new-session',
  askSelection: 'vitto:ask-selection',
  askAbout: 'vitto:ask-about',
  fix: 'vitto:fix',
  stop: 'vitto:stop',
  allow: 'vitto:allow',
  reject: 'vitto:reject',
  showOutputs: 'vitto:show-outputs',
  settings: 'vitto:settings'
} as const;

export function addCommands(vitto: Vitto): void {
  addOpening(vitto);
  addAsking(vitto);
  addSteering(vitto);
  addShowing(vitto);
}

export function addToPalette(vitto: Vitto, palette: ICommandPalette): void {
  const category = vitto.parts.translator.load('vitto_jupyter').__('Vitto');
  Object.values(COMMANDS).forEach(command => palette.addItem({ command, category }));
}

export function addToLauncher(launcher: ILauncher, category: string): void {
  launcher.add({ command: COMMANDS.open, args: { isLauncher: true }, category, rank: 10 });
}

function addOpening(vitto: Vitto): void {
  const { app, translator } = vitto.parts;
  const trans = translator.load('vitto_jupyter');
  app.commands.addCommand(COMMANDS.open, {
    label: ({ isLauncher }) => (isLauncher ? trans.__('Vitto') : trans.__('Open Vitto')),
    caption: trans.__('Open the Vitto side bar and go to its prompt'),
    icon: vittoIcon,
    execute: async () => (await vitto.open()).focusComposer()
  });
  app.commands.addCommand(COMMANDS.newSession, {
    label: trans.__('New Vitto Session'),
    execute: async () => {
      const ui = await vitto.open();
      ui.newSession();
      ui.focusComposer();
    }
  });
  app.commands.addCommand(COMMANDS.settings, {
    label: trans.__('Vitto Settings'),
    execute: () => app.commands.execute('settingeditor:open', { query: 'Vitto' })
  });
}

function addAsking(vitto: Vitto): void {
  const { app, translator } = vitto.parts;
  const trans = translator.load('vitto_jupyter');
  const isEnabled = () => hasDocument(vitto);
  const prefill = async (choose: (runtime: Runtime) => Ask | null): Promise<void> => {
    const ask = choose(await vitto.runtime());
    const ui = await vitto.open();
    if (ask) {
      ui.prefill(ask.prompt, ask.context);
    }
    ui.focusComposer();
  };
  app.commands.addCommand(COMMANDS.askSelection, {
    label: trans.__('Ask Vitto About the Selection'),
    icon: vittoIcon,
    isEnabled,
    execute: () => prefill(runtime => runtime.askSelection())
  });
  app.commands.addCommand(COMMANDS.askAbout, {
    label: trans.__('Ask Vitto About This'),
    icon: vittoIcon,
    isEnabled,
    execute: args => prefill(runtime => runtime.askAbout(isFromMenu(args)))
  });
  app.commands.addCommand(COMMANDS.fix, {
    label: trans.__('Fix with Vitto'),
    caption: trans.__('Ask Vitto to find the cause of the error and fix it'),
    icon: vittoIcon,
    isEnabled,
    execute: async args => {
      const ask = (await vitto.runtime()).fix(isFromMenu(args));
      const ui = await vitto.open();
      if (ask) {
        ui.ask(ask.prompt, { context: ask.context });
      }
    }
  });
}

function addSteering(vitto: Vitto): void {
  const { app, translator } = vitto.parts;
  const trans = translator.load('vitto_jupyter');
  app.commands.addCommand(COMMANDS.stop, {
    label: trans.__('Stop Vitto'),
    caption: trans.__('Stop the running turn; a kernel goes on with what it does'),
    isEnabled: () => vitto.loaded?.isRunning ?? false,
    execute: () => vitto.loaded?.store.stop()
  });
  for (const [command, decision, label] of [
    [COMMANDS.allow, 'approve', trans.__('Vitto: Allow What Waits')],
    [COMMANDS.reject, 'reject', trans.__('Vitto: Reject What Waits')]
  ] as const) {
    app.commands.addCommand(command, {
      label,
      isEnabled: () => vitto.loaded?.isWaiting ?? false,
      execute: async () => (await vitto.open()).decidePending(decision)
    });
  }
}

/** With `path` and `cellIds` for those cells, else for the cells that are selected. */
function addShowing(vitto: Vitto): void {
  const { app, documents, translator } = vitto.parts;
  const trans = translator.load('vitto_jupyter');
  app.commands.addCommand(COMMANDS.showOutputs, {
    label: trans.__('Show Outputs of Vitto’s Run'),
    caption: trans.__('Show these outputs as those of a run of your own, in this page only'),
    isEnabled: args => 'path' in args || hasDocument(vitto),
    execute: async ({ path, cellIds }) => {
      const runtime = await vitto.runtime();
      if (typeof path === 'string' && Array.isArray(cellIds)) {
        runtime.showOutputs(path, cellIds.map(String));
      } else {
        runtime.showSelectedOutputs(currentWidget(app, documents));
      }
    }
  });
}

/** Menu entries say so in the schema: then the clicked cell counts, not the active one. */
function isFromMenu(args: ReadonlyPartialJSONObject): boolean {
  return args['from'] === 'menu';
}

function hasDocument({ parts: { app, documents } }: Vitto): boolean {
  return currentWidget(app, documents) !== null;
}
