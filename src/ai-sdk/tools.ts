/**
 * Functions of the catalogue as tools of the AI SDK: the names, descriptions and schemas that MCP clients see.
 *
 * The program gets the whole result; the model gets it as text of bounded length. A failed call throws, which the SDK
 * passes to the model as the tool's error.
 */
import { jsonSchema, tool, type Tool, type ToolSet } from 'ai';

import {
  boundedText,
  CallError,
  failureText,
  isFailedResult,
  isMap,
  readCatalogue,
  renderText,
  throughDoor,
  withContent,
  type Bus,
  type CatalogueEntry,
} from '#contract';
import type { FunctionMap, FunctionTypes, TypedBus } from '#library';
import { imagesIn, parseProfiles, toTools, type ImageField } from '#surfaces/mcp';

export interface WorkcellToolsOptions<Word extends string = string> {
  /**
   * `coding` for the tools of a coding agent, `look` for those of them that only read, or `all`, `coder`, `shell`,
   * `filesystem`, `sandbox`; several with commas. `all` when this and `only` are left out.
   */
  profile?: string;
  /** Workers (`coder`), ids (`coder::search`) or tool names (`coder_search`); all functions when left out. */
  only?: readonly Word[];
  /** Only functions that change nothing and run nothing. */
  readOnly?: boolean;
  /** Default `default`. */
  namespace?: string;
}

type Replaced<Text extends string, From extends string, To extends string> = Text extends `${infer A}${From}${infer B}`
  ? `${A}${To}${Replaced<B, From, To>}`
  : Text;

/** The tool of a function: `coder::read-file` is `coder_read_file`. */
export type ToolName<Id extends string> = Replaced<Replaced<Id, '::', '_'>, '-', '_'>;

/** The words of `only` that name this function. */
type WordsFor<Id extends string> = Id | ToolName<Id> | (Id extends `${infer Worker}::${string}` ? Worker : never);

type Chosen<Id extends string, Word extends string> = string extends Word
  ? Id
  : WordsFor<Id> & Word extends never
    ? never
    : Id;

/** The tools by name, each with the input and the output of its function. */
export type WorkcellTools<Functions extends FunctionMap = FunctionTypes, Word extends string = string> = {
  [Id in keyof Functions & string as ToolName<Chosen<Id, Word>>]: Tool<
    Functions[Id]['request'],
    Functions[Id]['response']
  >;
};

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
export function workcellTools<Functions extends FunctionMap = FunctionTypes, const Word extends string = string>(
  bus: TypedBus<Functions>,
  options?: WorkcellToolsOptions<Word> & { profile?: undefined; readOnly?: false; namespace?: undefined },
): Promise<WorkcellTools<Functions, Word>>;
/** The list of a profile, read-only functions and those of other namespaces are known at run time only. */
export function workcellTools(bus: TypedBus | Bus, options?: WorkcellToolsOptions): Promise<ToolSet>;
export async function workcellTools(bus: Bus, options: WorkcellToolsOptions = {}): Promise<ToolSet> {
  const { profile, only, readOnly, namespace } = options;
  const profiles = profile === undefined && only !== undefined ? undefined : parseProfiles(profile ?? 'all');
  const offered = toTools(await readCatalogue(bus, { namespace }), { profiles, only, isReadOnly: readOnly, namespace });
  const tools: ToolSet = {};
  for (const [name, { definition, entry }] of offered) {
    tools[name] = tool<unknown, unknown>({
      description: definition.description,
      inputSchema: jsonSchema(definition.inputSchema as Parameters<typeof jsonSchema>[0]),
      execute: (input, { abortSignal }) => callFunction(bus, entry, input, abortSignal),
      toModelOutput: ({ output }) => toModelOutput(output),
    });
  }
  return tools;
}

/** Texts of results whose functions define one. */
const texts = new WeakMap<object, string>();

/** Text of bounded length; an image is passed as an image. */
function toModelOutput(output: unknown): ModelOutput {
  const text = isMap(output) ? texts.get(output) : undefined;
  if (text !== undefined) return withImages(boundedText(text).text, imagesIn(output));
  const { image, ...rest } = (isMap(output) ? output : {}) as { image?: ImageField };
  if (!image) return { type: 'text', value: boundedText(renderText(output)).text };
  return withImages(renderText(rest), [image]);
}

function withImages(text: string, images: readonly ImageField[]): ModelOutput {
  if (images.length === 0) return { type: 'text', value: text };
  const shown = images.map(({ base64: data, mime_type: mediaType }) => ({
    type: 'image-data' as const,
    data,
    mediaType,
  }));
  return { type: 'content', value: [{ type: 'text', text }, ...shown] };
}

async function callFunction(bus: Bus, entry: CatalogueEntry, input: unknown, signal?: AbortSignal): Promise<unknown> {
  const { id, namespace } = entry;
  try {
    let text: string | undefined;
    const onText = (given: string) => void (text = given);
    const options = { namespace, signal, timeoutMs: CALL_MS, metadata: throughDoor('model'), onText };
    const reply = await bus.call(id, input, options);
    if (text !== undefined && isMap(reply)) texts.set(reply, text);
    const result = await withContent(bus, reply, { functionId: id, maxBytes: MAX_FILE_BYTES });
    if (isFailedResult(result, entry)) throw new Error(renderText(result));
    return result;
  } catch (error) {
    throw error instanceof CallError ? new Error(failureText(error, input), { cause: error }) : error;
  }
}
