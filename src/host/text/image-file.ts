/** Reads a file as an image, for a caller that can display one. */
import { imageTypeOf, MAX_IMAGE_BYTES } from '#contract';
import type { JailFile } from '../jail/jail-file.ts';

const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;

export interface ImageContent {
  mime_type: string;
  base64: string;
}

/** Undefined if the name or the first bytes are not those of an image, or the file is too large. */
export async function readImage(file: JailFile): Promise<ImageContent | undefined> {
  if (!IMAGE_NAME.test(file.relativePath) || file.size > MAX_IMAGE_BYTES) return undefined;
  const bytes = await file.read();
  const mimeType = imageTypeOf(bytes);
  return mimeType === undefined ? undefined : { mime_type: mimeType, base64: bytes.toString('base64') };
}
