/** Three-way merge of texts by lines, and the spans that differ between two texts. Pure. */
import { diff3MergeRegions, diffIndices } from 'node-diff3';
import { longestRise } from './rise';
import { changedSpan, type Span } from './span';

/** Lines that both sides changed differently; `mine` is what the merged text has. */
export interface TextConflict {
  /** Of the first of them in the merged text, from 1. */
  readonly line: number;
  readonly mine: string;
  readonly theirs: string;
}

export interface MergedText {
  readonly text: string;
  readonly conflicts: readonly TextConflict[];
}

type Lines = string[];

/** What both changed since `base`; where they differ in the same lines, `mine` stays. */
export function mergeText(base: string, mine: string, theirs: string): MergedText {
  const merged: Lines[] = [];
  const conflicts: TextConflict[] = [];
  let line = 1;
  for (const [a = [], o = [], b = []] of segments([mine, base, theirs].map(linesOf))) {
    for (const { lines, others } of mergedParts(a, o, b)) {
      const [own, other] = [lines.join(''), others?.join('')];
      if (other !== undefined && other !== own) {
        conflicts.push({ line, mine: own, theirs: other });
      }
      merged.push(lines);
      line += lines.length;
    }
  }
  return { text: merged.map(lines => lines.join('')).join(''), conflicts };
}

/** The spans of `before` to replace, last one first, so that offsets stay true meanwhile. */
export function changedSpans(before: string, after: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const [old = [], wanted = []] of segments([before, after].map(linesOf))) {
    for (const part of isLong(old, wanted) ? [WHOLE(old, wanted)] : diffIndices(old, wanted)) {
      const [from] = part.buffer1;
      const start = at + old.slice(0, from).join('').length;
      const span = changedSpan(part.buffer1Content.join(''), part.buffer2Content.join(''));
      spans.push(...(span ? [{ ...span, start: start + span.start, end: start + span.end }] : []));
    }
    at += old.join('').length;
  }
  return spans.reverse();
}

// -- inside ---------------------------------------------------------------------------------

/** Comparing line by line takes as many steps as the product, when many lines are the same. */
const MOST_STEPS = 4_000_000;

function isLong(one: Lines, other: Lines): boolean {
  return one.length * other.length > MOST_STEPS;
}

const WHOLE = (old: Lines, wanted: Lines) => ({
  buffer1: [0, old.length] as const,
  buffer1Content: old,
  buffer2Content: wanted
});

interface MergedPart {
  readonly lines: Lines;
  /** Of the other side, where both changed these lines. */
  readonly others?: Lines;
}

function mergedParts(a: Lines, o: Lines, b: Lines): MergedPart[] {
  const [mine, base, theirs] = [a.join(''), o.join(''), b.join('')];
  if (mine === base) {
    return [{ lines: b }];
  }
  if (theirs === base || mine === theirs) {
    return [{ lines: a }];
  }
  if (isLong(a, o) || isLong(b, o)) {
    return [{ lines: a, others: b }];
  }
  return diff3MergeRegions(a, o, b).map(region =>
    region.stable
      ? { lines: region.bufferContent }
      : { lines: region.aContent, others: region.bContent }
  );
}

/** With their line ends; the last one has none. */
function linesOf(text: string): Lines {
  return text.split(/(?<=\n)/);
}

/** The sides cut before each line that occurs once in every one of them, in the same order. */
function segments(sides: readonly Lines[]): Lines[][] {
  const places = sides.map(placesOfUnique);
  const [first = new Map<string, number>(), ...others] = places;
  let anchors = [...first.keys()].filter(line => others.every(side => side.has(line)));
  for (const side of others) {
    const rising = new Set(longestRise(anchors.map(line => side.get(line) ?? 0)));
    anchors = anchors.filter(line => rising.has(side.get(line) ?? 0));
  }
  const cuts = places.map((side, n) => [0, ...anchors.map(line => side.get(line) ?? 0), sides[n]?.length ?? 0]);
  return Array.from({ length: anchors.length + 1 }, (_, n) =>
    sides.map((side, index) => side.slice(cuts[index]?.[n], cuts[index]?.[n + 1]))
  );
}

/** In the order of the lines. */
function placesOfUnique(lines: Lines): Map<string, number> {
  const places = new Map<string, number>();
  const repeated = new Set<string>();
  lines.forEach((line, index) => {
    if (places.has(line)) {
      repeated.add(line);
    }
    places.set(line, index);
  });
  repeated.forEach(line => places.delete(line));
  return places;
}
