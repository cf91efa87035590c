/**
 * A published value with two paces: at once, or joined so that listeners are called about 14
 * times a second, the first time after a quiet moment at once. A timer, not an animation
 * frame: hidden tabs get no frames.
 */
const APART_MS = 70;

export class Publisher<T> {
  constructor(private published: T) {}

  get value(): T {
    return this.published;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  publish(value: T): void {
    if (this.timer !== null) {
      clearTimeout(this.timer);
      this.timer = null;
    }
    this.waiting = null;
    this.publishedAt = performance.now();
    this.published = value;
    this.listeners.forEach(listener => listener());
  }

  publishSoon(value: T): void {
    const wait = this.publishedAt + APART_MS - performance.now();
    if (wait <= 0) {
      this.publish(value);
      return;
    }
    this.waiting = { value };
    this.timer ??= setTimeout(() => {
      this.timer = null;
      if (this.waiting) {
        this.publish(this.waiting.value);
      }
    }, wait);
  }

  dispose(): void {
    this.listeners.clear();
    if (this.timer !== null) {
      clearTimeout(this.timer);
    }
  }

  private readonly listeners = new Set<() => void>();
  private waiting: { readonly value: T } | null = null;
  private publishedAt = -APART_MS;
  private timer: ReturnType<typeof setTimeout> | null = null;
}
