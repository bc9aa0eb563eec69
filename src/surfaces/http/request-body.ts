/** Reads a JSON request body up to the cap. An empty body is an empty request. */
import { badRequest, type HttpFailure } from './failures.ts';

export async function readJsonBody(
  request: Request,
  maxBytes: number,
): Promise<{ value: unknown } | { problem: HttpFailure }> {
  const tooLarge = () => badRequest('payload_too_large', `the request body is larger than ${maxBytes} bytes`, 413);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return { problem: tooLarge() };

  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) return { problem: tooLarge() };
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString();
  if (text.trim() === '') return { value: {} };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: badRequest('invalid_json', `the request body is not JSON: ${(error as Error).message}`) };
  }
}
