/** Pasted and dropped images as attachments of a prompt, within the server's limits. */
import type { Picture } from '../desk';
import { mediaType } from '../words/json';
import type { Words } from '../words/tool-phrase';

const MOST = 10;
const MOST_BYTES = 5_000_000;
/** Base64 of all pictures together; the server takes bodies up to 8 MiB. */
const MOST_CHARS = 7_500_000;

export interface Taken {
  readonly pictures: readonly Picture[];
  /** Why some were left out; "" when none was. */
  readonly remark: string;
}

/** `had` plus the images among `files`, as far as the limits allow. */
export async function takePictures(
  { t }: Words,
  had: readonly Picture[],
  files: readonly File[]
): Promise<Taken> {
  let pictures = had;
  let remark = '';
  for (const file of files) {
    const media_type = mediaType(file.type);
    if (!media_type) {
      remark = t('%1 was left out: only PNG, JPEG, GIF and WebP images can go along.', file.name);
    } else if (file.size > MOST_BYTES) {
      remark = t('%1 was left out: it is larger than 5 MB.', file.name);
    } else if (pictures.length >= MOST) {
      remark = t('%1 was left out: at most %2 images can go along.', file.name, MOST);
    } else {
      const data = await base64Of(file);
      if (charsOf(pictures) + data.length > MOST_CHARS) {
        remark = t('%1 was left out: all images together are too large.', file.name);
      } else {
        pictures = [...pictures, { id: pictureId(pictures.length, file), name: file.name, media_type, data }];
      }
    }
  }
  return { pictures, remark };
}

function charsOf(pictures: readonly Picture[]): number {
  return pictures.reduce((sum, { data }) => sum + data.length, 0);
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error ?? new Error(`Cannot read ${file.name}`));
    reader.onload = () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    };
    reader.readAsDataURL(file);
  });
}

/** Unique among the pictures of one draft; `crypto.randomUUID` is missing on plain HTTP. */
function pictureId(index: number, file: File): string {
  return `${index}-${file.name}-${file.size}-${Date.now()}`;
}
