/** Before the first prompt: what Vitto sees now, and three prompts made from it. */
import { sendPrompt } from '../acts';
import { useStore, useSurroundings, useUi, useWords } from '../context';
import { useCurrentChoice } from '../composer/ModelMenu';
import { Icon } from '../parts/Icon';
import type { ProviderInfo } from '../../protocol/types';
import { DEMO } from '../words/choice';
import { seenWords } from '../words/seen';
import { suggestions } from '../words/suggestions';

export function EmptyState() {
  const ui = useUi();
  const { words } = ui;
  const now = useSurroundings();
  return (
    <div className="vitto-empty">
      <ProviderNote />
      <p className="vitto-empty-title">{words.t('What Vitto sees now')}</p>
      <p className="vitto-empty-seen">{seenWords(words, now)}</p>
      <ul className="vitto-suggestions" aria-label={words.t('Suggestions')}>
        {suggestions(words, now).map(text => (
          <li key={text}>
            <button
              type="button"
              className="vitto-suggestion"
              onClick={() => void sendPrompt(ui, text)}
            >
              <span>{text}</span>
              <Icon name="send" />
            </button>
          </li>
        ))}
      </ul>
      <p className="vitto-quiet">
        {words.t('Reading needs no permission. Vitto asks before it changes or runs anything.')}
      </p>
    </div>
  );
}

const NONE: readonly ProviderInfo[] = [];

/** Without a language model: two lines what to do, and the demo. */
function ProviderNote() {
  const { desk } = useUi();
  const { t } = useWords();
  const providers = useStore(state => state.providers?.providers) ?? NONE;
  const current = useCurrentChoice();
  const real = providers.filter(({ name }) => name !== DEMO);
  const missing = real.find(({ available }) => !available);
  if (!missing || real.some(({ available }) => available)) {
    return null;
  }
  const demo = providers.find(({ name, available }) => name === DEMO && available);
  const demoModel = demo?.models[0];
  const inDemo = current.provider?.name === DEMO;
  return (
    <div className="vitto-provider-note">
      <p className="vitto-empty-title">{t('%1 cannot be used yet', missing.label)}</p>
      {missing.hint && <p>{missing.hint}</p>}
      {missing.reason && (
        <details className="vitto-details vitto-quiet">
          <summary>{t('Why')}</summary>
          {missing.reason}
        </details>
      )}
      {inDemo && (
        <p className="vitto-quiet">
          {t('Until then the demo answers. It is a script, not a language model.')}
        </p>
      )}
      {!inDemo && demo && demoModel && (
        <button
          type="button"
          className="vitto-button"
          onClick={() =>
            desk.set({ choice: { provider: demo.name, model: demoModel.id, effort: null } })
          }
        >
          {t('Use the demo, not a language model')}
        </button>
      )}
    </div>
  );
}
