/** Whether a text is base64 in the standard alphabet, with padding. Node's decoder accepts anything. */
export function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
