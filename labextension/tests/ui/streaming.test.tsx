import { describe, expect, it } from 'vitest';

import { settle, show, Trail } from './fakes';

describe('streaming', () => {
  it('draws a finished block once and never again', async () => {
    const trail = Trail.start().turn();
    const shown = await show(trail);
    for (const piece of ['First ', 'block.\n\n', '```py\n', 'x = 1\n```\n', 'Last', ' one', '.']) {
      await shown.play(trail.later(now => now.text(piece)));
    }
    await shown.play(trail.later(now => now.end()));
    const { drawn } = shown.host;
    const count = (text: string): number => drawn.filter(entry => entry === text).length;
    expect(count('First block.')).toBe(1);
    expect(count('```py\nx = 1\n```')).toBe(1);
    expect(drawn.at(-1)).toBe('Last one.');
    const afterFence = drawn.slice(drawn.indexOf('```py\nx = 1\n```') + 1);
    expect(afterFence.every(text => text.startsWith('Last'))).toBe(true);
  });

  it('keeps the nodes of earlier turns and rows while text arrives', async () => {
    const trail = Trail.start().turn('One').text('Answer one.').end().turn('Two').read('a', 'a.py');
    const shown = await show(trail);
    const kept = [...shown.into.querySelectorAll('.vitto-markdown, .vitto-row')];
    const drawnBefore = shown.host.drawn.length;
    await shown.play(trail.later(now => now.text('More.')));
    expect(kept.every(node => node.isConnected)).toBe(true);
    expect(shown.host.drawn.slice(drawnBefore)).toEqual(['More.']);
  });

  it('draws a fast stream far less often than it arrives', async () => {
    const trail = Trail.start().turn();
    const shown = await show(trail);
    const before = shown.host.drawn.length;
    for (let piece = 0; piece < 200; piece++) {
      shown.transport.play('ses_1', trail.later(now => now.text('word ')));
    }
    await settle();
    expect(shown.host.drawn.length - before).toBeLessThan(5);
    expect(shown.host.drawn.at(-1)).toBe('word '.repeat(200).trim());
  });

  it('draws formulas once, in a block that is complete', async () => {
    const trail = Trail.start().turn();
    const shown = await show(trail);
    for (const piece of ['So $x$', ' and $y$', '.\n\nNext', ' part']) {
      await shown.play(trail.later(now => now.text(piece)));
    }
    expect(shown.host.typeset).toEqual([['So $x$ and $y$.', true]]);
    await shown.play(trail.later(now => now.end()));
    expect(shown.host.typeset.at(-1)).toEqual(['Next part', true]);
    expect(shown.host.typeset).toHaveLength(2);
  });
});
