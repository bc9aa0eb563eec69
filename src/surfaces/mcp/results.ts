/**
 * What a function answered as the result of a tool: the value itself once, and a text of bounded length beside it.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';

import type { CallError } from '#contract';
import type { KeptResults } from './kept-results.ts';
import { boundedText, renderText } from './text.ts';

export function toToolResult(
  value: unknown,
  { kept, isFailure }: { kept: KeptResults; isFailure: boolean },
): CallToolResult {
  return {
    content: toContent(renderText(value), kept),
    ...(isMap(value) && { structuredContent: value }),
    ...(isFailure && { isError: true }),
  };
}

export function toToolFailure(error: CallError): CallToolResult {
  const { code, message, extra } = error;
  const { fix, fix_note: _, ...rest } = extra;
  return {
    isError: true,
    content: [{ type: 'text', text: failureText(error) }],
    structuredContent: { error: { code, message, ...(fix == null ? {} : { fix }), ...rest } },
  };
}

/** A failure for a model: the code, why, and what to do next where that is known. */
export function failureText({ code, message, extra: { fix, fix_note } }: CallError): string {
  const next = [
    fix === undefined || fix === null ? undefined : `fix, to merge into the request: ${JSON.stringify(fix)}`,
    typeof fix_note === 'string' ? fix_note : undefined,
  ];
  return [`${code}: ${message}`, ...next].filter((line) => line !== undefined).join('\n');
}

function toContent(text: string, kept: KeptResults): CallToolResult['content'] {
  const { text: shown, cutAtByte } = boundedText(text);
  const uri = cutAtByte === undefined ? undefined : kept.keep(text);
  if (uri === undefined) return [{ type: 'text', text: shown }];
  return [
    { type: 'text', text: `${shown}; read on at ${uri}?from=${cutAtByte}` },
    { type: 'resource_link', uri, name: 'whole result', mimeType: 'text/plain', size: Buffer.byteLength(text) },
  ];
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
