/**
 * Functions of the catalogue as tools of the AI SDK: the names, descriptions and schemas that MCP clients see.
 *
 * The program gets the whole result; the model gets it as text of bounded length. A failed call throws, which the SDK
 * passes to the model as the tool's error.
 */
import { dynamicTool, jsonSchema, type ToolSet } from 'ai';

import {
  CallError,
  isFailedResult,
  readCatalogue,
  throughDoor,
  withContent,
  type Bus,
  type CatalogueEntry,
} from '#contract';
import { boundedText, failureText, renderText, toTools } from '#surfaces/mcp';

export interface WorkcellToolsOptions {
  /** Workers (`coder`), ids (`coder::search`) or tool names (`coder_search`); all functions when left out. */
  only?: readonly string[];
  /** Only functions that change nothing and run nothing. */
  readOnly?: boolean;
  /** Default `default`. */
  namespace?: string;
}

interface ImageField {
  mime_type: string;
  base64: string;
}

type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]['toModelOutput']>>>;

/** Functions have timeouts of their own; this one only has to be longer. */
const CALL_MS = 24 * 3_600_000;
/** Largest file in one result. */
const MAX_FILE_BYTES = 16 * 2 ** 20;

/**
 * The tools that exist now, by name: for `generateText({ tools })` and the like.
 *
 * @example
 * ```js
 * import { createWorkcell } from 'workcell';
 * import { workcellTools } from 'workcell/ai-sdk';
 *
 * const cell = await createWorkcell({ workspace: '.', workers: [{ name: 'coder' }] });
 * const tools = await workcellTools(cell, { only: ['coder'], readOnly: true });
 * console.log(Object.keys(tools).includes('coder_read_file')); // true
 * console.log(Object.keys(tools).includes('coder_delete_file')); // false
 * await cell.close();
 * ```
 */
export async function workcellTools(bus: Bus, options: WorkcellToolsOptions = {}): Promise<ToolSet> {
  const { only, readOnly, namespace } = options;
  const offered = toTools(await readCatalogue(bus), { only, isReadOnly: readOnly, namespace });
  const tools: ToolSet = {};
  for (const [name, { definition, entry }] of offered) {
    tools[name] = dynamicTool({
      description: definition.description,
      inputSchema: jsonSchema(definition.inputSchema as Parameters<typeof jsonSchema>[0]),
      execute: (input, { abortSignal }) => callFunction(bus, entry, input, abortSignal),
      toModelOutput: ({ output }) => toModelOutput(output),
    });
  }
  return tools;
}

/** Text of bounded length; an image is passed as an image. */
function toModelOutput(output: unknown): ModelOutput {
  const { image, ...rest } = (typeof output === 'object' && output !== null ? output : {}) as { image?: ImageField };
  if (!image) return { type: 'text', value: boundedText(renderText(output)).text };
  const text = { type: 'text' as const, text: renderText(rest) };
  return { type: 'content', value: [text, { type: 'image-data', data: image.base64, mediaType: image.mime_type }] };
}

async function callFunction(bus: Bus, entry: CatalogueEntry, input: unknown, signal?: AbortSignal): Promise<unknown> {
  const { id, namespace } = entry;
  try {
    const options = { namespace, signal, timeoutMs: CALL_MS, metadata: throughDoor('model') };
    const reply = await bus.call(id, input, options);
    const result = await withContent(bus, reply, { functionId: id, maxBytes: MAX_FILE_BYTES });
    if (isFailedResult(result, entry)) throw new Error(renderText(result));
    return result;
  } catch (error) {
    throw error instanceof CallError ? new Error(failureText(error, input), { cause: error }) : error;
  }
}
