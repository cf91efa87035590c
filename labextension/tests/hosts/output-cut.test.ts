import { expect, test } from 'vitest';
import golden from '../../../tests/golden/output_cut.json';
import {
  joinedOutput,
  LIMITS,
  OutputCutter,
  outputPart,
  type Json
} from '../../src/hosts/lab/documents/output-cut';

interface Case {
  readonly name: string;
  readonly outputs: Json[];
  readonly expected: Json[];
  readonly utf16?: Json[];
}

const cases = golden.cases as unknown as Case[];

test('the limits are those of the server', () => {
  expect(LIMITS).toEqual(golden.limits);
});

test.each(cases)('as the server: $name', ({ outputs, expected, utf16 }) => {
  const cutter = new OutputCutter(golden.small_limits);
  expect(outputs.map(output => cutter.cut(output))).toEqual(utf16 ?? expected);
});

test.each(golden.parts as unknown as PartCase[])(
  'a part as the server: $name',
  ({ output, field, start, count, expected, utf16 }) => {
    expect(outputPart(output, field, start, count)).toEqual(utf16 === undefined ? expected : utf16);
  }
);

interface PartCase {
  readonly name: string;
  readonly output: Json;
  readonly field: string;
  readonly start: number;
  readonly count: number;
  readonly expected: Json | null;
  readonly utf16?: Json | null;
}

test('texts kept as lists of lines are joined, JSON is not', () => {
  const data = { 'text/html': ['<b>', '</b>'], 'application/json': ['a', 'b'] };
  expect(joinedOutput({ output_type: 'stream', name: 'stdout', text: ['a\n', 'b'] })['text']).toBe('a\nb');
  expect(joinedOutput({ output_type: 'display_data', data })['data']).toEqual({
    'text/html': '<b></b>',
    'application/json': ['a', 'b']
  });
});

test('of very many errors in a long text the first and the last are quoted, quickly', () => {
  const lines = Array.from({ length: 400_000 }, (_, n) => `error ${n}`);
  const text = ['x'.repeat(20_000), ...lines, 'y'.repeat(20_000)].join('\n');
  const cut = String(new OutputCutter().cut({ output_type: 'stream', name: 'stdout', text })['text']);
  const quoted = cut.split('…]\n')[1]?.split('\n').slice(0, -1) ?? [];
  expect(quoted).toEqual([...lines.slice(0, 25), ...lines.slice(-25), '[…]'].slice(0, quoted.length));
  expect(quoted.length).toBeGreaterThanOrEqual(50);
});
