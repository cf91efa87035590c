/** Which model the next turn uses, as far as the UI knows. Pure. */
import type { ModelChoice, ProviderInfo, ProvidersReply, TurnView } from '../../protocol/types';
import type { Choice } from '../desk';
import type { Translate } from './time';

export const DEMO = 'demo';

export interface Current {
  readonly provider: ProviderInfo | null;
  readonly model: ModelChoice | null;
  readonly modelId: string;
  readonly effort: string | null;
}

/** The user's choice, else what the session used last, else the server's default. */
export function currentChoice(
  reply: ProvidersReply | null,
  choice: Choice | null,
  lastTurn: TurnView | null
): Current {
  const chosen = usable(reply, choice)
    ? choice
    : lastTurn
      ? { provider: lastTurn.provider, model: lastTurn.model, effort: reply?.effort ?? null }
      : { provider: reply?.provider ?? '', model: reply?.model ?? '', effort: reply?.effort ?? null };
  const provider = reply?.providers.find(known => known.name === chosen?.provider) ?? null;
  const model = provider?.models.find(known => known.id === chosen?.model) ?? null;
  return { provider, model, modelId: chosen?.model ?? '', effort: chosen?.effort ?? null };
}

/** A remembered choice counts only while its provider still offers the model. */
export function usable(reply: ProvidersReply | null, choice: Choice | null): boolean {
  const provider = reply?.providers.find(known => known.name === choice?.provider);
  return Boolean(provider?.available && provider.models.some(known => known.id === choice?.model));
}

/** "Claude Sonnet 5, high effort"; the demo says plainly that it is no language model. */
export function choiceLabel(t: Translate, current: Current): string {
  if (current.provider?.name === DEMO) {
    return t('Demo, not a language model');
  }
  const model = current.model?.label ?? current.modelId;
  const name = model || current.provider?.label || t('Choose a model');
  return current.effort ? t('%1, %2', name, current.effort) : name;
}
