/**
 * What a function answered as the result of a tool: the value itself once, and a text of bounded length beside it.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';

import type { CallError, CatalogueEntry } from '#contract';
import type { KeptResults } from './kept-results.ts';
import { renderText } from './text.ts';

/** What a model can take in one reply without losing the rest of the conversation. */
const MAX_TEXT_CHARS = 32 * 1024;

export function toToolResult(value: unknown, entry: CatalogueEntry, kept: KeptResults): CallToolResult {
  const isError = entry.fails_in_result === true && isMap(value) && value.success === false;
  return {
    content: toContent(renderText(value), kept),
    ...(isMap(value) && { structuredContent: value }),
    ...(isError && { isError }),
  };
}

export function toToolFailure({ code, message, extra }: CallError): CallToolResult {
  const { fix, fix_note, ...rest } = extra;
  const next = [
    fix === undefined || fix === null ? undefined : `fix, to merge into the request: ${JSON.stringify(fix)}`,
    typeof fix_note === 'string' ? fix_note : undefined,
  ];
  const text = [`${code}: ${message}`, ...next].filter((line) => line !== undefined).join('\n');
  return {
    isError: true,
    content: [{ type: 'text', text }],
    structuredContent: { error: { code, message, ...(fix == null ? {} : { fix }), ...rest } },
  };
}

function toContent(text: string, kept: KeptResults): CallToolResult['content'] {
  if (text.length <= MAX_TEXT_CHARS) return [{ type: 'text', text }];

  const head = text.slice(0, MAX_TEXT_CHARS).replace(/[\uD800-\uDBFF]$/, '');
  const uri = kept.keep(text);
  const size = Buffer.byteLength(text);
  const note = `… cut after ${Buffer.byteLength(head)} of ${size} bytes`;
  if (uri === undefined) return [{ type: 'text', text: `${head}\n${note}` }];
  return [
    { type: 'text', text: `${head}\n${note}; read on at ${uri}?from=${Buffer.byteLength(head)}` },
    { type: 'resource_link', uri, name: 'whole result', mimeType: 'text/plain', size },
  ];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
