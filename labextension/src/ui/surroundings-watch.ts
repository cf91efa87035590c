/** The host's surroundings as a value that stays the same object until it changes. */
import type { Host, Surroundings } from './host';

export class SurroundingsWatch {
  constructor(private readonly host: Host) {
    this.current = host.surroundings();
    this.stop = host.onSurroundings(() => this.refresh());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  readonly getSnapshot = (): Surroundings => this.current;

  dispose(): void {
    this.stop();
    this.listeners.clear();
  }

  private refresh(): void {
    const next = this.host.surroundings();
    if (JSON.stringify(next) !== JSON.stringify(this.current)) {
      this.current = next;
      this.listeners.forEach(listener => listener());
    }
  }

  private current: Surroundings;
  private readonly stop: () => void;
  private readonly listeners = new Set<() => void>();
}
