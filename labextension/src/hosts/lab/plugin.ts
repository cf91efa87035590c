/**
 * The JupyterLab plugin. At activation: commands, menus, an empty panel with an icon, one
 * listener on the event bus. Everything else is loaded when it is first needed.
 */
import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { IEditorLanguageRegistry } from '@jupyterlab/codemirror';
import { PageConfig } from '@jupyterlab/coreutils';
import { IDocumentManager } from '@jupyterlab/docmanager';
import { ILauncher } from '@jupyterlab/launcher';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator } from '@jupyterlab/translation';
import { addCommands, addToLauncher, addToPalette } from './commands';
import { PageMemory } from './page-memory';
import { SettingsSource } from './settings';
import { Vitto } from './vitto';
import { isWakeUp } from './wake-up';

const PLUGIN_ID = 'vitto-jupyter:plugin';
/** After the other panels of the right side. */
const RANK = 950;

export const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'Vitto, an agent that works inside Jupyter.',
  autoStart: true,
  requires: [IDocumentManager, IRenderMimeRegistry, IEditorLanguageRegistry, ITranslator],
  optional: [ILayoutRestorer, ICommandPalette, ILauncher, ISettingRegistry],
  activate: (
    app: JupyterFrontEnd,
    documents: IDocumentManager,
    rendermime: IRenderMimeRegistry,
    languages: IEditorLanguageRegistry,
    translator: ITranslator,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null,
    registry: ISettingRegistry | null
  ) => {
    const parts = { app, documents, rendermime, languages, translator };
    const vitto = new Vitto(parts, new SettingsSource(registry, PLUGIN_ID));
    addCommands(vitto);
    app.shell.add(vitto.panel, 'right', { rank: RANK, type: 'Vitto' });
    restorer?.add(vitto.panel, vitto.panel.id);
    if (palette) {
      addToPalette(vitto, palette);
    }
    if (launcher) {
      addToLauncher(launcher, translator.load('jupyterlab').__('Other'));
    }
    followServer(vitto);
    openWhenAsked(vitto);
  }
};

/** Wake-ups load what answers them: the server may need the documents of this page. */
function followServer(vitto: Vitto): void {
  const { app } = vitto.parts;
  app.serviceManager.events.stream.connect((_, event) => {
    const isMeant = isWakeUp(event) && (vitto.loaded !== null || event.session_id !== '');
    if (isMeant) {
      void vitto.runtime().then(runtime => runtime.wake(event.host_id, event.session_id));
    }
  });
  if (new PageMemory().get('session')) {
    // used here before: a turn may be running that needs our documents
    void app.restored.then(() => vitto.runtime());
  }
}

/**
 * The server was started with the side bar open (`vitto lab`), or the page's address asks for it
 * (`?vitto=open`): shows it and leaves the focus alone.
 */
function openWhenAsked(vitto: Vitto): void {
  const { app } = vitto.parts;
  const inAddress = new URLSearchParams(window.location.search).get('vitto') === 'open';
  if (inAddress || PageConfig.getOption('vittoOpen') === 'true') {
    void app.restored.then(() => vitto.open());
  }
}
