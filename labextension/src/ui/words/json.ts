/** Guards for the loosely typed parts of the contract: tool inputs and result metadata. */
import type { Image, JsonValue } from '../../protocol/types';

export type JsonRecord = { readonly [key: string]: JsonValue };

export function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: JsonValue | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

export function recordOf(value: JsonValue | undefined): JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** The media type when it is one that may be drawn, else null. */
export function mediaType(text: string): Image['media_type'] | null {
  return MEDIA_TYPES.find(known => known === text) ?? null;
}

/** The images of a result's metadata; anything that is not a known image is left out. */
export function imagesOf(metadata: JsonRecord): readonly Image[] {
  return listOf(metadata['images']).flatMap(entry => {
    const { media_type, data } = recordOf(entry);
    const type = mediaType(textOf(media_type));
    const base64 = textOf(data);
    return type && /^[A-Za-z0-9+/=]+$/.test(base64) ? [{ media_type: type, data: base64 }] : [];
  });
}
