/** Revisions as the server makes them: workspace/base.py. */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex } from '@noble/hashes/utils';

const DIGITS = 16;

/** The first 16 hex digits of the SHA-256 of a text (UTF-8). */
export function revisionOf(text: string): string {
  return bytesToHex(sha256(utf8(text))).slice(0, DIGITS);
}

export function cellRevision(cellType: string, source: string): string {
  return revisionOf(`${cellType}\n${source}`);
}

/** Half of a surrogate pair becomes three bytes, as Python's "surrogatepass" does it. */
function utf8(text: string): Uint8Array {
  const encoder = new TextEncoder();
  if (!/[\uD800-\uDFFF]/.test(text)) {
    return encoder.encode(text);
  }
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.charCodeAt(0);
    const isHalf = character.length === 1 && code >= 0xd800 && code <= 0xdfff;
    bytes.push(
      ...(isHalf
        ? [0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)]
        : encoder.encode(character))
    );
  }
  return Uint8Array.from(bytes);
}
