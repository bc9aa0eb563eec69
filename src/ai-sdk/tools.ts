/**
 * Functions of the catalogue as tools of the AI SDK: the names, descriptions and schemas that MCP clients see.
 *
 * The program gets the whole result; the model reads it as text of bounded length. A failure is thrown, which the SDK
 * hands to the model as the tool's error.
 */
import { dynamicTool, jsonSchema, type ToolSet } from 'ai';

import { CallError, isFailedResult, readCatalogue, type Bus, type CatalogueEntry } from '#contract';
import { boundedText, failureText, renderText, toTools } from '#surfaces/mcp';

export interface WorkcellToolsOptions {
  /** Workers (`coder`), ids (`coder::search`) or tool names (`coder_search`); everything when left out. */
  only?: readonly string[];
  /** Only what changes nothing and runs nothing. */
  readOnly?: boolean;
  /** Default `default`. */
  namespace?: string;
}

/** Functions end their calls by limits of their own; this only has to be longer. */
const CALL_MS = 24 * 3_600_000;

/** The tools there are now, by name: for `generateText({ tools })` and its like. */
export async function workcellTools(bus: Bus, options: WorkcellToolsOptions = {}): Promise<ToolSet> {
  const { only, readOnly, namespace } = options;
  const offered = toTools(await readCatalogue(bus), { only, isReadOnly: readOnly, namespace });
  const tools: ToolSet = {};
  for (const [name, { definition, entry }] of offered) {
    tools[name] = dynamicTool({
      title: definition.title,
      description: definition.description,
      inputSchema: jsonSchema(definition.inputSchema as Parameters<typeof jsonSchema>[0]),
      execute: (input, { abortSignal }) => callFunction(bus, entry, input, abortSignal),
      toModelOutput: ({ output }) => ({ type: 'text', value: boundedText(renderText(output)).text }),
    });
  }
  return tools;
}

async function callFunction(bus: Bus, entry: CatalogueEntry, input: unknown, signal?: AbortSignal): Promise<unknown> {
  const { id, namespace } = entry;
  try {
    const result = await bus.call(id, input, { namespace, signal, timeoutMs: CALL_MS });
    if (isFailedResult(result, entry)) throw new Error(renderText(result));
    return result;
  } catch (error) {
    throw error instanceof CallError ? new Error(failureText(error), { cause: error }) : error;
  }
}
