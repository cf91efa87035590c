/**
 * Drawing that waits its turn: one at a time, with rests in which the page can answer, as many
 * blocks become ready at once when a session is opened or a stream is fast. The newest goes
 * first, as a reader looks at the end.
 */
const SLICE_MS = 8;
/** A draw that waits for something, e.g. a language that is being loaded, holds up nobody. */
const PATIENCE_MS = 200;

export class DrawQueue {
  /** Resolves when `draw` has ended. */
  add(draw: () => Promise<void>): Promise<void> {
    const drawn = new Promise<void>((resolve, reject) => {
      this.waiting.push(() => draw().then(resolve, reject));
    });
    void this.work();
    return drawn;
  }

  private async work(): Promise<void> {
    if (this.isWorking) {
      return;
    }
    this.isWorking = true;
    let begun = performance.now();
    for (let draw = this.waiting.pop(); draw; draw = this.waiting.pop()) {
      await Promise.race([draw(), pause(PATIENCE_MS)]);
      if (performance.now() - begun > SLICE_MS) {
        await pause(0);
        begun = performance.now();
      }
    }
    this.isWorking = false;
  }

  private isWorking = false;
  private readonly waiting: (() => Promise<void>)[] = [];
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}
