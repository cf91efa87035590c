/**
 * Draws a growing text: the first piece at once, then at most 15 times a second, and less
 * often when drawing takes long, so that the page never freezes (pain 69). Owned by one
 * element; draws never overlap.
 */
import type { DrawQueue } from './draw-queue';

const SHORTEST_MS = 66;
const LONGEST_MS = 1000;
/** Share of the time that drawing may take: 1 / REST. */
const REST = 6;

export class DrawPace {
  /** `draw` draws a text; `final` says that it is complete. */
  constructor(
    private readonly queue: DrawQueue,
    private readonly draw: (text: string, final: boolean) => Promise<void>
  ) {}

  /** Draw `text` when it is time; `final` text is drawn as soon as possible. */
  show(text: string, final: boolean): void {
    if (text === this.wanted && this.final === final) {
      return;
    }
    this.wanted = text;
    this.final = final;
    if (!this.drawing) {
      this.plan();
    }
  }

  dispose(): void {
    this.disposed = true;
    this.cancelTimer();
  }

  private plan(): void {
    this.cancelTimer();
    if (this.disposed || (this.wanted === this.drawn && this.final === this.drawnFinal)) {
      return;
    }
    const wait = this.final ? 0 : this.nextAt - performance.now();
    if (wait <= 0) {
      void this.run();
    } else {
      this.timer = setTimeout(() => void this.run(), wait);
    }
  }

  private async run(): Promise<void> {
    this.drawing = true;
    try {
      await this.queue.add(() => this.drawNow());
    } finally {
      this.drawing = false;
    }
    this.plan();
  }

  /** Draws what is wanted when its turn has come. */
  private async drawNow(): Promise<void> {
    const { wanted, final } = this;
    const begun = performance.now();
    try {
      if (!this.disposed) {
        await this.draw(wanted, final);
      }
    } finally {
      const rest = Math.min(LONGEST_MS, (performance.now() - begun) * REST);
      this.drawn = wanted;
      this.drawnFinal = final;
      this.nextAt = begun + Math.max(SHORTEST_MS, rest);
    }
  }

  private cancelTimer(): void {
    if (this.timer !== null) {
      clearTimeout(this.timer);
      this.timer = null;
    }
  }

  private wanted = '';
  private drawn = '';
  private drawnFinal = false;
  private final = false;
  private drawing = false;
  private disposed = false;
  private nextAt = 0;
  private timer: ReturnType<typeof setTimeout> | null = null;
}
