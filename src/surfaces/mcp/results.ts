/**
 * Converts the result of a function to a tool result: text of bounded length, and an image as an image.
 *
 * Clients pass either the text or the structured content to the model, so only one is sent: structured content if the
 * client asked for it, and never with a failure, which no output schema fits.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';

import {
  asText,
  boundedText,
  failedResultText,
  failureText,
  imageTypeOf,
  isMap,
  itemFailures,
  MAX_IMAGE_BYTES,
  renderText,
  type CallError,
  type TakenContent,
} from '#contract';
import type { KeptResults } from './kept-results.ts';

/** Clients on stdio stop at messages of 10 MiB, and some far below. */
const MAX_STRUCTURED_BYTES = 4 * 2 ** 20;

export interface ResultOptions {
  kept: KeptResults;
  /** Whether this `success: false` is a failure of the function. */
  isFailure: boolean;
  /** The list whose items fail individually, if the function has one. */
  itemList?: string;
  isStructured: boolean;
  /** The request, of which a failure repeats nothing long. */
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

/** A result with a text form of its function; images anywhere in the value are shown below the text. */
export function toTextResult(
  value: unknown,
  { text, kept, isStructured }: { text: string; kept: KeptResults; isStructured: boolean },
): CallToolResult {
  if (isStructured && isMap(value)) return structured(value, text, kept);
  const images = imagesIn(value).map(({ base64: data, mime_type: mimeType }) => ({
    type: 'image' as const,
    data,
    mimeType,
  }));
  return { content: [...toContent(text, kept), ...images] };
}

export function toToolFailure(
  error: CallError,
  { kept, request }: Pick<ResultOptions, 'kept' | 'request'>,
): CallToolResult {
  return failed(failureText(error, request), kept);
}

/** A file from a channel: its text, its image, or its size and type. */
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

/** Unwraps `{success: true, data}`; the wrapper is useless to a model. */
function dataOf(value: unknown): unknown {
  if (!isMap(value) || value.success !== true || !('data' in value)) return value;
  return Object.keys(value).length === 2 ? value.data : value;
}

function withoutFailed(value: unknown, list: string): unknown {
  if (!isMap(value)) return value;
  const items = value[list] as { success?: unknown }[];
  return { ...value, [list]: items.filter(({ success }) => success !== false) };
}

export interface ImageField {
  mime_type: string;
  base64: string;
}

/** The images of a result and of the items of its lists. */
export function imagesIn(value: unknown): ImageField[] {
  if (!isMap(value)) return [];
  const items = Object.values(value).flatMap((field) => (Array.isArray(field) ? (field as unknown[]) : []));
  return [value, ...items].flatMap((item) => (isMap(item) && isImage(item.image) ? [item.image] : []));
}

function isImage(field: unknown): field is ImageField {
  return isMap(field) && typeof field.base64 === 'string' && typeof field.mime_type === 'string';
}

/** A result with `image: {mime_type, base64}` is shown as an image. */
function imageIn({ image, content: _, ...head }: Record<string, unknown>): CallToolResult | undefined {
  if (!isImage(image)) return undefined;
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
