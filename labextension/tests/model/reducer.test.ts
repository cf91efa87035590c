import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { emptyTranscript, fold, foldAll, lastCharacters } from '../../src/model/reducer';
import { isEnvelope, isEvent } from '../../src/model/guards';
import type { AnyEvent, Transcript } from '../../src/protocol/types';

const GOLDEN = join(__dirname, '../../../tests/golden');
const NAMES = readdirSync(GOLDEN)
  .filter(name => name.endsWith('.jsonl'))
  .map(name => name.slice(0, -'.jsonl'.length));

function trail(name: string): AnyEvent[] {
  const lines = readFileSync(join(GOLDEN, `${name}.jsonl`), 'utf8').split('\n').filter(Boolean);
  return lines.map(line => {
    const value: unknown = JSON.parse(line);
    if (!isEnvelope(value) || !isEvent(value)) {
      throw new Error(`not an event: ${line}`);
    }
    return value;
  });
}

function expected(name: string): Transcript {
  return JSON.parse(readFileSync(join(GOLDEN, `${name}.transcript.json`), 'utf8')) as Transcript;
}

describe('golden trails', () => {
  test('there are some', () => expect(NAMES.length).toBeGreaterThan(3));

  test.each(NAMES)('%s folds to what Python makes of it', name => {
    const { session_id } = expected(name);
    expect(foldAll(emptyTranscript(session_id), trail(name))).toEqual(expected(name));
  });

  test.each(NAMES)('%s replayed a second time changes nothing', name => {
    const once = foldAll(emptyTranscript('s'), trail(name));
    expect(foldAll(once, trail(name))).toBe(once);
  });

  test.each(NAMES)('%s folded in pieces gives the same', name => {
    const events = trail(name);
    const half = Math.floor(events.length / 2);
    const first = foldAll(emptyTranscript(expected(name).session_id), events.slice(0, half));
    expect(foldAll(first, events.slice(half))).toEqual(expected(name));
  });

  test.each(NAMES)('%s: no event changes an earlier transcript', name => {
    let transcript = emptyTranscript('s');
    for (const event of trail(name)) {
      const before = structuredClone(transcript);
      const next = fold(transcript, event);
      expect(transcript).toEqual(before);
      transcript = next;
    }
  });
});

test('a delta leaves the blocks before it and the turns before it as they are', () => {
  const events = trail('text-and-thinking');
  for (let i = 1; i < events.length; i++) {
    const event = events[i];
    if (event?.type !== 'text.delta') {
      continue;
    }
    const before = foldAll(emptyTranscript('s'), events.slice(0, i));
    const after = fold(before, event);
    const [old, now] = [before.turns.at(-1), after.turns.at(-1)];
    const untouched = (old?.blocks.length ?? 0) - 1;
    for (let block = 0; block < untouched; block++) {
      expect(now?.blocks[block]).toBe(old?.blocks[block]);
    }
    expect(after.turns.slice(0, -1).every((turn, at) => turn === before.turns[at])).toBe(true);
  }
});

test('the end of a text is counted in code points', () => {
  expect(lastCharacters('abc😀d', 2)).toBe('😀d');
  expect(lastCharacters('abc😀d', 1)).toBe('d');
  expect(lastCharacters('abc', 5)).toBe('abc');
});

test('a type of a later version is counted but is not an event', () => {
  const later: unknown = { seq: 3, type: 'checkpoint.created' };
  expect(isEnvelope(later) && !isEvent(later)).toBe(true);
  expect(isEnvelope({ seq: '3', type: 'notice' })).toBe(false);
});
