/**
 * Vitto in this page, as the eagerly loaded part sees it: the panel's shell, and promises of
 * the rest, which is fetched when first needed.
 */
import type { MountedUi } from '../../ui/host';
import { VittoPanel } from './panel';
import type { LabParts } from './parts';
import type { Runtime } from './runtime';
import type { SettingsSource } from './settings';

export class Vitto {
  constructor(
    readonly parts: LabParts,
    private readonly settings: SettingsSource
  ) {
    const trans = parts.translator.load('vitto_jupyter');
    this.failure = trans.__('Vitto could not be loaded. Reload the page to try again.');
    this.panel = new VittoPanel(trans.__('Vitto'), () => void this.ui());
  }

  readonly panel: VittoPanel;

  /** What is loaded already, for questions that must not load anything. */
  get loaded(): Runtime | null {
    return this.current;
  }

  runtime(): Promise<Runtime> {
    this.runtimePromise ??= import('./runtime').then(({ Runtime }) => {
      this.current = new Runtime(this.parts);
      return this.current;
    });
    return this.runtimePromise;
  }

  /** The UI, mounted in the panel. */
  ui(): Promise<MountedUi> {
    this.uiPromise ??= this.mount();
    return this.uiPromise;
  }

  /** Bring the panel to the front, and answer its UI. */
  async open(): Promise<MountedUi> {
    this.parts.app.shell.activateById(this.panel.id);
    return this.ui();
  }

  private async mount(): Promise<MountedUi> {
    try {
      const [runtime, settings] = await Promise.all([this.runtime(), this.settings.read()]);
      const ui = await runtime.mount(this.panel.node, settings);
      this.settings.onChange(changed => ui.setSettings(changed));
      return ui;
    } catch (error) {
      this.panel.node.textContent = this.failure;
      throw error;
    }
  }

  private readonly failure: string;
  private current: Runtime | null = null;
  private runtimePromise: Promise<Runtime> | null = null;
  private uiPromise: Promise<MountedUi> | null = null;
}
