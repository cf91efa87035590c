/** The models of one provider, or why it is not available and what to do. */
import { useWords } from '../context';
import type { Choice } from '../desk';
import type { ProviderInfo } from '../../protocol/types';
import { DEMO, type Current } from '../words/choice';

interface Props {
  readonly provider: ProviderInfo;
  readonly current: Current;
  readonly onChoose: (choice: Choice) => void;
}

export function ProviderGroup({ provider, current, onChoose }: Props) {
  const { t } = useWords();
  const isDemo = provider.name === DEMO;
  return (
    <fieldset className="vitto-options">
      <legend>{isDemo ? t('Demo, not a language model') : provider.label}</legend>
      {provider.reason && <p className="vitto-option-note">{provider.reason}</p>}
      {!provider.available && provider.hint && (
        <p className="vitto-option-note">{provider.hint}</p>
      )}
      {provider.available &&
        provider.models.map(model => (
          <label key={model.id} className="vitto-option">
            <input
              type="radio"
              name="vitto-model"
              checked={current.provider?.name === provider.name && current.modelId === model.id}
              onChange={() => onChoose({ provider: provider.name, model: model.id, effort: null })}
            />
            <span>
              {model.label}
              {model.context_tokens !== null && (
                <span className="vitto-option-note">
                  {t('%1 tokens of context', model.context_tokens.toLocaleString())}
                </span>
              )}
            </span>
          </label>
        ))}
    </fieldset>
  );
}
