/**
 * What a function answered as the result of a tool: text of bounded length, and an image as an image.
 *
 * Clients hand the model either the text or the structured content and drop the other, so only one is sent: structured
 * content where the client asked for it, and never with a failure, which no output schema fits.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';

import { asText, imageTypeOf, isMap, MAX_IMAGE_BYTES, type CallError, type TakenContent } from '#contract';
import { failedResultText, failureText, itemFailures } from './failure-text.ts';
import type { KeptResults } from './kept-results.ts';
import { boundedText, renderText } from './text.ts';

/** Clients on standard input and output stop at messages of 10 MiB, and some far below. */
const MAX_STRUCTURED_BYTES = 4 * 2 ** 20;

export interface ResultOptions {
  kept: KeptResults;
  /** Whether `success: false` is how this function fails. */
  isFailure: boolean;
  /** The list whose items fail each by itself, where the function has one. */
  itemList?: string;
  isStructured: boolean;
  /** What the model sent, of which a failure repeats nothing long. */
  request?: unknown;
}

export function toToolResult(value: unknown, options: ResultOptions): CallToolResult {
  const { kept, isFailure, itemList, isStructured, request } = options;
  if (isFailure && isMap(value)) return failed(failedResultText(value, request), kept);

  const items = itemList === undefined ? undefined : itemFailures(value, itemList);
  if (items?.areAll) return failed(items.text, kept);

  const shown = dataOf(value);
  const image = isMap(shown) ? imageIn(shown) : undefined;
  if (image) return image;
  const rest = renderText(items ? withoutFailed(shown, itemList!) : shown);
  const text = items ? `${items.text}\n${rest}` : rest;
  return isStructured && isMap(value) ? structured(value, text, kept) : { content: toContent(text, kept) };
}

export function toToolFailure(
  error: CallError,
  { kept, request }: Pick<ResultOptions, 'kept' | 'request'>,
): CallToolResult {
  return failed(failureText(error, request), kept);
}

/** A file that came through a channel: its text, the image it is, or what it is. */
export function toFileResult({ rest, bytes }: TakenContent, kept: KeptResults): CallToolResult {
  const { body: _, ...head } = rest;
  const mimeType = imageTypeOf(bytes);
  if (mimeType && bytes.length <= MAX_IMAGE_BYTES) return imageResult(head, bytes.toString('base64'), mimeType);

  const content = asText(bytes) ?? `not text: ${bytes.length} bytes${mimeType ? ` of ${mimeType}` : ''}, not shown`;
  return { content: toContent([renderText(head), 'content:', content].join('\n'), kept) };
}

function failed(text: string, kept: KeptResults): CallToolResult {
  return { isError: true, content: toContent(text, kept) };
}

function structured(value: Record<string, unknown>, text: string, kept: KeptResults): CallToolResult {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= MAX_STRUCTURED_BYTES) return { content: toContent(text, kept), structuredContent: value };
  const why = `the call was done, but its result of ${bytes} bytes exceeds the ${MAX_STRUCTURED_BYTES} of structured content`;
  return failed(`${why}; ask for less\n${text}`, kept);
}

/** What is in `{success: true, data}`; the wrapper says nothing to a model. */
function dataOf(value: unknown): unknown {
  if (!isMap(value) || value.success !== true || !('data' in value)) return value;
  return Object.keys(value).length === 2 ? value.data : value;
}

function withoutFailed(value: unknown, list: string): unknown {
  if (!isMap(value)) return value;
  const items = value[list] as { success?: unknown }[];
  return { ...value, [list]: items.filter(({ success }) => success !== false) };
}

/** A result says by `image: {mime_type, base64}` that it is to be looked at. */
function imageIn({ image, content: _, ...head }: Record<string, unknown>): CallToolResult | undefined {
  if (!isMap(image) || typeof image.base64 !== 'string' || typeof image.mime_type !== 'string') return undefined;
  return imageResult(head, image.base64, image.mime_type);
}

function imageResult(head: Record<string, unknown>, data: string, mimeType: string): CallToolResult {
  return {
    content: [
      { type: 'text', text: renderText(head) },
      { type: 'image', data, mimeType },
    ],
  };
}

function toContent(text: string, kept: KeptResults): CallToolResult['content'] {
  const { text: shown, cutAtByte } = boundedText(text);
  const uri = cutAtByte === undefined ? undefined : kept.keep(text);
  if (uri === undefined) return [{ type: 'text', text: shown }];
  return [
    { type: 'text', text: `${shown}; ask for less, or read on at ${uri}?from=${cutAtByte}` },
    { type: 'resource_link', uri, name: 'whole result', mimeType: 'text/plain', size: Buffer.byteLength(text) },
  ];
}
