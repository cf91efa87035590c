/** The longest rising part of a list of numbers, in its order. Pure. */
export function longestRise(numbers: readonly number[]): number[] {
  const ends: { readonly value: number; readonly before: Chain }[] = [];
  for (const value of numbers) {
    const length = smallerThan(ends, value);
    ends[length] = { value, before: ends[length - 1] ?? null };
  }
  const rise: number[] = [];
  for (let chain: Chain = ends.at(-1) ?? null; chain; chain = chain.before) {
    rise.push(chain.value);
  }
  return rise.reverse();
}

type Chain = { readonly value: number; readonly before: Chain } | null;

/** How many of the rising `ends` are smaller. */
function smallerThan(ends: readonly { readonly value: number }[], value: number): number {
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle]?.value ?? Infinity) < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}
