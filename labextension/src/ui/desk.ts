/**
 * What lies on the user's desk: the draft and what goes along with it. Lives as long as the
 * mounted UI; the draft and the choice of model survive a reload in the host's memory.
 */
import type { Attachment, StartTurn, TurnContext } from '../protocol/types';
import type { Host, UiSettings } from './host';

export interface Picture extends Attachment {
  readonly id: string;
  readonly name: string;
}

export type Mode = StartTurn['mode'];
export type Effort = NonNullable<StartTurn['effort']>;

/** What the user chose in the model menu. `effort` null: what the model does by itself. */
export interface Choice {
  readonly provider: string;
  readonly model: string;
  readonly effort: Effort | null;
}

export interface DeskState {
  readonly page: 'transcript' | 'sessions';
  readonly draft: string;
  readonly pictures: readonly Picture[];
  /** The document path and the selection whose chips were removed. */
  readonly withoutDocument: string | null;
  readonly withoutSelection: string | null;
  /** When set, exactly this context goes along, e.g. a cell's error chosen in a menu. */
  readonly fixedContext: TurnContext | null;
  readonly choice: Choice | null;
  readonly mode: Mode;
  /** A word to the user under the composer; "" when there is none. */
  readonly remark: string;
  readonly settings: UiSettings;
}

const DRAFT_KEY = 'draft';
const CHOICE_KEY = 'choice';

export class Desk {
  constructor(
    private readonly memory: Host['memory'],
    settings: UiSettings
  ) {
    this.state = {
      page: 'transcript',
      draft: memory.get(DRAFT_KEY) ?? '',
      pictures: [],
      withoutDocument: null,
      withoutSelection: null,
      fixedContext: null,
      choice: readChoice(memory.get(CHOICE_KEY)),
      mode: 'ask',
      remark: '',
      settings
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  readonly getSnapshot = (): DeskState => this.state;

  set(change: Partial<DeskState>): void {
    const before = this.state;
    this.state = { ...before, ...change };
    if (this.state.draft !== before.draft) {
      this.memory.set(DRAFT_KEY, this.state.draft || null);
    }
    if (this.state.choice !== before.choice) {
      this.memory.set(CHOICE_KEY, this.state.choice && JSON.stringify(this.state.choice));
    }
    this.listeners.forEach(listener => listener());
  }

  private state: DeskState;
  private readonly listeners = new Set<() => void>();
}

const EFFORTS: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max'];

export function effortOf(text: string | null): Effort | null {
  return EFFORTS.find(known => known === text) ?? null;
}

/** A remembered choice; null when it is missing or damaged. */
function readChoice(json: string | null): Choice | null {
  try {
    const value: unknown = JSON.parse(json ?? 'null');
    return isChoice(value) ? { ...value, effort: effortOf(value.effort) } : null;
  } catch {
    return null;
  }
}

function isChoice(value: unknown): value is { provider: string; model: string; effort: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'provider' in value &&
    typeof value.provider === 'string' &&
    'model' in value &&
    typeof value.model === 'string' &&
    'effort' in value
  );
}
