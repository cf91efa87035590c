import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { DrawQueue } from '../../src/ui/text/draw-queue';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Makes draws that take `ms` of the page's time. */
function drawing(ms: number) {
  const drawn: string[] = [];
  const draw = (name: string) => async (): Promise<void> => {
    busy += ms;
    drawn.push(name);
  };
  return { drawn, draw };
}

let busy = 0;
beforeEach(() => {
  busy = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => busy);
});

test('one draw begins at once', () => {
  const { drawn, draw } = drawing(1);
  void new DrawQueue().add(draw('a'));
  expect(drawn).toEqual(['a']);
});

test('of many the newest goes first, and the page gets rests between them', async () => {
  const { drawn, draw } = drawing(3);
  const queue = new DrawQueue();
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const all = Promise.all(names.map(name => queue.add(draw(name))));
  for (let i = 0; i < 50; i++) {
    await Promise.resolve();
  }
  expect(drawn).toEqual(['a', 'g', 'f']);
  await vi.runAllTimersAsync();
  await all;
  expect(drawn).toEqual(['a', 'g', 'f', 'e', 'd', 'c', 'b']);
});

test('a draw that fails or never ends holds up nobody', async () => {
  const { drawn, draw } = drawing(1);
  const queue = new DrawQueue();
  void queue.add(() => new Promise(() => undefined));
  const failed = queue.add(() => Promise.reject(new Error('broken'))).catch(String);
  void queue.add(draw('a'));
  await vi.advanceTimersByTimeAsync(1000);
  expect(await failed).toContain('broken');
  expect(drawn).toEqual(['a']);
});
