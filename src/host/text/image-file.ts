/** A file as the image it is, for a caller that can look at one. */
import { imageTypeOf, MAX_IMAGE_BYTES } from '#contract';
import type { JailFile } from '../jail/jail-file.ts';

const IMAGE_NAME = /\.(?:png|jpe?g|gif|webp)$/i;

export interface ImageContent {
  mime_type: string;
  base64: string;
}

/** Undefined for what is not an image by its name and its first bytes, or is too large to be looked at. */
export async function readImage(file: JailFile): Promise<ImageContent | undefined> {
  if (!IMAGE_NAME.test(file.relativePath) || file.size > MAX_IMAGE_BYTES) return undefined;
  const bytes = await file.read();
  const mimeType = imageTypeOf(bytes);
  return mimeType === undefined ? undefined : { mime_type: mimeType, base64: bytes.toString('base64') };
}
