import { expect, test } from 'vitest';
import { SseParser } from '../../src/client/sse';

const feedAll = (chunks: readonly string[]) => {
  const parser = new SseParser();
  return chunks.flatMap(chunk => parser.feed(chunk));
};

const STREAM =
  ': hello\n\nid: 1\nevent: notice\ndata: {"a":1}\n\nid: 2\r\nevent: text.delta\r\ndata: one\r\ndata:two\r\n\r\ndata: three\r\rignored: x\n\n';
const MESSAGES = [
  { id: '1', event: 'notice', data: '{"a":1}' },
  { id: '2', event: 'text.delta', data: 'one\ntwo' },
  { id: '2', event: '', data: 'three' }
];

test('messages are read with any line end, comments and unknown fields left out', () => {
  expect(feedAll([STREAM])).toEqual(MESSAGES);
});

test('where the chunks are cut makes no difference', () => {
  for (let cut = 0; cut <= STREAM.length; cut++) {
    expect(feedAll([STREAM.slice(0, cut), STREAM.slice(cut)])).toEqual(MESSAGES);
  }
  expect(feedAll([...STREAM])).toEqual(MESSAGES);
});

test('a message without its blank line is not handed over', () => {
  expect(feedAll(['data: half'])).toEqual([]);
});

test('a field without a value is an empty line of data', () => {
  expect(feedAll(['data\n\n'])).toEqual([{ id: '', event: '', data: '' }]);
});
