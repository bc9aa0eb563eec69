/** Detects the type of an image by its first bytes: the types that models accept. */
const KINDS = [
  { mimeType: 'image/png', starts: [0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]] },
  { mimeType: 'image/jpeg', starts: [0, [0xff, 0xd8, 0xff]] },
  { mimeType: 'image/gif', starts: [0, [...Buffer.from('GIF8')]] },
  { mimeType: 'image/webp', starts: [8, [...Buffer.from('WEBP')]] },
] as const;

/** Providers accept images up to 5 MB of base64. */
export const MAX_IMAGE_BYTES = 3_750_000;

/** Undefined for any other content. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const kind = KINDS.find(({ starts: [at, expected] }) => expected.every((byte, i) => bytes[at + i] === byte));
  return kind?.mimeType;
}
