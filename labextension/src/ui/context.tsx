/** What every component may reach: host, transport, store and desk, through hooks. */
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react';

import type { Transport } from '../client/transport';
import type { SessionView } from '../model/session-view';
import type { Store, StoreState } from '../model/store';
import type { Desk, DeskState } from './desk';
import type { Host, Surroundings } from './host';
import type { SurroundingsWatch } from './surroundings-watch';
import type { DrawQueue } from './text/draw-queue';
import type { Words } from './words/tool-phrase';

export interface Ui {
  readonly host: Host;
  readonly transport: Transport;
  readonly store: Store;
  readonly desk: Desk;
  readonly surroundings: SurroundingsWatch;
  /** All markdown is drawn through this one. */
  readonly draws: DrawQueue;
  /** The host's translator, free to be passed around. */
  readonly words: Words;
  /** Puts the focus into the composer; the composer sets it. */
  readonly focus: { composer: () => void };
}

export const UiContext = createContext<Ui | null>(null);

export function useUi(): Ui {
  const ui = useContext(UiContext);
  if (!ui) {
    throw new Error('The component is drawn outside of mount().');
  }
  return ui;
}

export function useHost(): Host {
  return useUi().host;
}

export function useWords(): Words {
  return useUi().words;
}

/** A part of the store's state; `select` must return the same value for the same state. */
export function useStore<T>(select: (state: StoreState) => T): T {
  const { store } = useUi();
  return useSyncExternalStore(store.subscribe, () => select(store.getSnapshot()));
}

export function useSession(): SessionView | null {
  return useStore(state => state.session);
}

/** A part of the desk; `select` must return the same value for the same state. */
export function useDesk<T>(select: (state: DeskState) => T): T {
  const { desk } = useUi();
  return useSyncExternalStore(desk.subscribe, () => select(desk.getSnapshot()));
}

export function useSurroundings(): Surroundings {
  const { surroundings } = useUi();
  return useSyncExternalStore(surroundings.subscribe, surroundings.getSnapshot);
}

/** The time now, renewed each `stepMs` while `ticking`. */
export function useNow(ticking: boolean, stepMs = 1000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!ticking) {
      return undefined;
    }
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, [ticking, stepMs]);
  return now;
}
