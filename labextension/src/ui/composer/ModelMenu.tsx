/** Provider, model and effort of the next turn. */
import { useDesk, useStore, useUi } from '../context';
import { effortOf, type Choice } from '../desk';
import { Icon } from '../parts/Icon';
import { Popover } from '../parts/Popover';
import type { ProviderInfo } from '../../protocol/types';
import { choiceLabel, currentChoice, type Current } from '../words/choice';
import { ProviderGroup } from './ProviderGroup';

export function useCurrentChoice(): Current {
  const reply = useStore(state => state.providers);
  const choice = useDesk(state => state.choice);
  const turns = useStore(state => state.session?.transcript.turns);
  return currentChoice(reply, choice, turns?.[turns.length - 1] ?? null);
}

const NONE: readonly ProviderInfo[] = [];

export function ModelMenu() {
  const { desk, store, words } = useUi();
  const { t } = words;
  const providers = useStore(state => state.providers?.providers) ?? NONE;
  const current = useCurrentChoice();
  const label = choiceLabel(t, current);
  const choose = (choice: Choice): void => desk.set({ choice });
  return (
    <Popover
      side="above"
      label={t('Model: %1', label)}
      className="vitto-quiet-button vitto-model-button"
      onOpen={() => void store.loadProviders()}
      button={
        <>
          <span className="vitto-cut">{label}</span>
          <Icon name="chevron" />
        </>
      }
    >
      {() => (
        <>
          {providers.length === 0 && <p className="vitto-quiet">{t('Looking for models…')}</p>}
          {providers.map(provider => (
            <ProviderGroup
              key={provider.name}
              provider={provider}
              current={current}
              onChoose={choose}
            />
          ))}
          <Efforts current={current} onChoose={choose} />
          <p className="vitto-option-note">{t('The choice counts from the next turn on.')}</p>
        </>
      )}
    </Popover>
  );
}

interface EffortsProps {
  readonly current: Current;
  readonly onChoose: (choice: Choice) => void;
}

function Efforts({ current, onChoose }: EffortsProps) {
  const { words } = useUi();
  const { provider, model } = current;
  if (!provider || !model || model.efforts.length === 0) {
    return null;
  }
  const options: readonly (string | null)[] = [null, ...model.efforts];
  return (
    <fieldset className="vitto-options">
      <legend>{words.t('Effort')}</legend>
      <div className="vitto-option-line">
        {options.map(effort => (
          <label key={effort ?? 'default'} className="vitto-option">
            <input
              type="radio"
              name="vitto-effort"
              checked={current.effort === effort}
              onChange={() =>
                onChoose({ provider: provider.name, model: model.id, effort: effortOf(effort) })
              }
            />
            <span>{effort ?? words.t('default')}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
