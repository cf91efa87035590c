/** What the user does with the composer and with turns; every prompt goes out through here. */
import { runningTurn } from '../model/session-view';
import type { StartTurn, TurnContext, TurnView } from '../protocol/types';
import type { Ui } from './context';
import type { Surroundings } from './host';
import { usable } from './words/choice';
import { selectionKey } from './words/seen';

export type SendResult = 'sent' | 'nothing' | 'turn-runs' | 'failed';

/** Whether a turn runs or is on its way. */
export function isBusy({ store }: Ui): boolean {
  const session = store.getSnapshot().session;
  return Boolean(session && (session.sending || runningTurn(session.transcript)));
}

/** Send the draft. The text comes back into the composer when the server does not take it. */
export async function sendDraft(ui: Ui): Promise<SendResult> {
  const { draft, pictures, fixedContext } = ui.desk.getSnapshot();
  if (!draft.trim()) {
    return 'nothing';
  }
  if (isBusy(ui)) {
    const remark = ui.words.t(
      'A turn runs. Your text stays here; send it when the turn has ended.'
    );
    ui.desk.set({ remark });
    return 'turn-runs';
  }
  const context = fixedContext ?? contextOf(ui);
  const cleared = { draft: '', pictures: [], fixedContext: null, remark: '' };
  ui.desk.set({ ...cleared, withoutDocument: null, withoutSelection: null });
  const attachments = pictures.map(({ media_type, data }) => ({ media_type, data }));
  const sent = await start(ui, draft, context, attachments);
  if (!sent && !ui.desk.getSnapshot().draft) {
    ui.desk.set({ draft, pictures, fixedContext });
  }
  return sent ? 'sent' : 'failed';
}

/** Send `prompt` now; while a turn runs it goes into the composer instead. */
export async function sendPrompt(ui: Ui, prompt: string, context?: TurnContext): Promise<void> {
  const along = context ?? contextOf(ui);
  if (isBusy(ui)) {
    ui.desk.set({ page: 'transcript', draft: prompt, fixedContext: context ?? null });
    return;
  }
  if (!(await start(ui, prompt, along, [])) && !ui.desk.getSnapshot().draft) {
    ui.desk.set({ draft: prompt, fixedContext: context ?? null });
  }
}

/** Put the prompt of a turn back into the composer, with the context it had. */
export function reusePrompt({ desk }: Ui, turn: TurnView): void {
  desk.set({ draft: turn.prompt, fixedContext: turn.context });
}

type Attachments = StartTurn['attachments'];

async function start(
  { store, desk }: Ui,
  prompt: string,
  context: TurnContext,
  pictures: readonly Attachments[number][]
): Promise<boolean> {
  const { choice, mode } = desk.getSnapshot();
  desk.set({ page: 'transcript' });
  const chosen = usable(store.getSnapshot().providers, choice) ? choice : null;
  return store.startTurn({
    prompt,
    context,
    mode,
    attachments: atMostTen(pictures),
    provider: chosen?.provider ?? null,
    model: chosen?.model ?? null,
    effort: chosen?.effort ?? null
  });
}

/** The tuple type that the contract asks for. */
function atMostTen(pictures: readonly Attachments[number][]): Attachments {
  const kept = pictures.slice(0, 10);
  return isAttachments(kept) ? kept : [];
}

function isAttachments(list: readonly Attachments[number][]): list is Attachments {
  return list.length <= 10;
}

/** What the chips in front of the user say: the context that goes with the next prompt. */
export function contextOf(ui: Ui): TurnContext {
  return ui.host.turnContext(partsOf(ui));
}

export function partsOf({ desk, surroundings }: Ui): { document: boolean; selection: boolean } {
  return shownParts(surroundings.getSnapshot(), desk.getSnapshot());
}

interface Removed {
  readonly withoutDocument: string | null;
  readonly withoutSelection: string | null;
  readonly settings: { readonly sendSelection: boolean };
}

export function shownParts(
  now: Surroundings,
  removed: Removed
): { document: boolean; selection: boolean } {
  const selected = now.selection && selectionKey(now.selection);
  return {
    document: now.path !== null && now.path !== removed.withoutDocument,
    selection:
      selected !== null && removed.settings.sendSelection && selected !== removed.withoutSelection
  };
}
