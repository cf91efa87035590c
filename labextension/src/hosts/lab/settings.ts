/** The user's settings for the UI. Read when the UI is first shown. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { DEFAULT_UI_SETTINGS, type UiSettings } from '../../ui/host';

export class SettingsSource {
  constructor(
    private readonly registry: ISettingRegistry | null,
    private readonly pluginId: string
  ) {}

  async read(): Promise<UiSettings> {
    this.loaded = (await this.registry?.load(this.pluginId)) ?? null;
    return fromSettings(this.loaded);
  }

  onChange(listener: (settings: UiSettings) => void): void {
    this.loaded?.changed.connect(settings => listener(fromSettings(settings)));
  }

  private loaded: ISettingRegistry.ISettings | null = null;
}

function fromSettings(settings: ISettingRegistry.ISettings | null): UiSettings {
  const { showThinking, sendSelection } = settings?.composite ?? {};
  return {
    showThinking: typeof showThinking === 'boolean' ? showThinking : DEFAULT_UI_SETTINGS.showThinking,
    sendSelection:
      typeof sendSelection === 'boolean' ? sendSelection : DEFAULT_UI_SETTINGS.sendSelection
  };
}
