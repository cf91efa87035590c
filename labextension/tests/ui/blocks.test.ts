import { describe, expect, it } from 'vitest';

import { allBlocks, EMPTY_SPLIT, splitBlocks } from '../../src/ui/text/blocks';

const TEXTS: Readonly<Record<string, string>> = {
  paragraphs: 'One.\nStill one.\n\n\nTwo.\n\nThree',
  'a fence with blank lines': 'Look:\n\n```python\na = 1\n\n\nb = 2\n```\n\nAfter.\n',
  'a fence in a fence': '~~~md\n```py\n\nx\n```\n~~~\nafter\n\nend',
  'a longer fence': '````\n```\n\n```\n````\n\nend\n',
  'a list with code in it': '1. one\n\n   ```sh\n   ls\n\n   pwd\n   ```\n\n2. two\n\nNot the list.\n',
  'a list after its sentence': 'Steps:\n- one\n\n- two\n\n  more of two\n\nend',
  'display math': 'Before\n\n$$\na\n\nb\n$$\nafter\n\n\\[\nx\n\n\\]\nend\n',
  'an HTML container': '<details>\n<summary>More</summary>\n\ninside\n\n</details>\n\nafter\n',
  'something that only looks like a list': '- one\n\n-not a list\n\n12345\n\n**bold**\n',
  'a table': '| a | b |\n|---|---|\n| 1 | 2 |\n\nend\n',
  'only blank lines': '\n\n  \n',
  'an unclosed fence': 'Text\n\n```python\ndef f():\n\n    return 1\n'
};

/** Small deterministic random numbers. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

function streamed(text: string, next: () => number): readonly string[] {
  let split = EMPTY_SPLIT;
  for (let end = 0; end < text.length; ) {
    end = Math.min(text.length, end + 1 + Math.floor(next() * 12));
    const before = split;
    split = splitBlocks(text.slice(0, end), before);
    expect(split.finished.slice(0, before.finished.length)).toEqual(before.finished);
  }
  return allBlocks(text, split);
}

describe('splitBlocks', () => {
  it.each(Object.entries(TEXTS))('gives the same blocks for any chunking: %s', (_, text) => {
    const whole = allBlocks(text);
    for (let seed = 1; seed <= 60; seed++) {
      expect(streamed(text, random(seed))).toEqual(whole);
    }
  });

  it('gives the same blocks for any chunking of random mixtures', () => {
    const pieces = ['a', ' ', '\n', '\n\n', '- ', '1. ', '```', '```py\n', '$$', '  ', '<div>', '*'];
    for (let seed = 1; seed <= 300; seed++) {
      const next = random(seed);
      const text = Array.from({ length: 40 }, () => pieces[Math.floor(next() * pieces.length)]);
      expect(streamed(text.join(''), next)).toEqual(allBlocks(text.join('')));
    }
  });

  it('loses no text but blank lines at the edges of blocks', () => {
    for (const text of Object.values(TEXTS)) {
      expect(allBlocks(text).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''));
    }
  });

  it('finishes a fence with its closing line, before anything follows', () => {
    expect(splitBlocks('```py\nx\n```\n').finished).toEqual(['```py\nx\n```']);
  });

  it('keeps an unclosed fence open however many blank lines it has', () => {
    const { finished, openStart } = splitBlocks('Text\n\n```python\na\n\n\nb\n\n');
    expect(finished).toEqual(['Text']);
    expect(openStart).toBe('Text\n\n'.length);
  });

  it('keeps a list whole over blank lines and nested code', () => {
    expect(allBlocks(TEXTS['a list with code in it'] ?? '')).toHaveLength(2);
  });
});
