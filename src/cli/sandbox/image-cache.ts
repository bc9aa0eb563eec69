/**
 * Shared by the image commands. They work on the cache of the configuration, under the names of an engine that runs
 * over it, so that the engine finds their images. They need no engine, and refuse to work beside one that has another
 * cache.
 */
import { z } from 'zod';

import { availableWorkers, findConfigFile, parseEntries, readConfigFile } from '#assembly';
import { CallError, silentLog } from '#contract';
import { ImageError, openImages, progressText, sandbox, type ImageProgress, type Images } from '#workers/sandbox';
import { UsageError, valueOption, type CommandInput, type OptionSpec } from '../command.ts';
import { addressOptions, engineUrl, text, UnreachableError, withEngine } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { showLine } from '../live-line.ts';
import { printFailure } from '../print.ts';
import { untilSignal } from '../until-signal.ts';

export const imageOptions: Record<string, OptionSpec> = {
  config: valueOption('FILE', 'Configuration file, as for start.', { short: 'c' }),
  json: { type: 'boolean', description: 'Print the result as JSON.' },
  local: { type: 'boolean', description: 'Use the cache of this configuration; do not ask a running engine.' },
  ...addressOptions,
};

const Catalogue = z.object({
  images: z.array(z.object({ name: z.string(), oci_ref: z.string(), kind: z.string() })),
  cache_id: z.string().optional(),
});

/** A local engine answers much faster. */
const ANSWER_MS = 5000;

interface EngineImages {
  cacheId: string | undefined;
  customImages: Record<string, string>;
}

interface ImageWork {
  images: Images;
  signal: AbortSignal;
  onProgress: (progress: ImageProgress) => void;
}

/** Runs with the images of the configuration; prints a failure in one line. */
export async function withImages(
  options: CommandInput['options'],
  work: (given: ImageWork) => Promise<number> | number,
): Promise<number> {
  const images = await imagesOf(options);
  const control = new AbortController();
  void untilSignal().then(() => control.abort());
  try {
    return await work({ images, signal: control.signal, onProgress: showProgress });
  } catch (error) {
    if (!(error instanceof ImageError) && !control.signal.aborted) throw error;
    printFailure({ message: (error as Error).message });
    return EXIT.failed;
  }
}

async function imagesOf(options: CommandInput['options']): Promise<Images> {
  const config = sandboxConfig(text(options.config));
  const images = openImages(config, silentLog);
  const known = options.local === true ? undefined : await askEngine(options);
  if (!known) return images;
  requireSameCache(images.cacheId, known, engineUrl(options));
  return openImages({ ...config, custom_images: known.customImages }, silentLog);
}

/** Undefined when no engine runs, or one without sandboxes. */
async function askEngine(options: CommandInput['options']): Promise<EngineImages | undefined> {
  try {
    return await withEngine(options, async (bus) => {
      const reply = await bus.call('sandbox::catalog::list', {}, { timeoutMs: ANSWER_MS });
      const { images, cache_id } = Catalogue.parse(reply);
      const custom = images.filter(({ kind }) => kind === 'custom').map(({ name, oci_ref }) => [name, oci_ref]);
      return { cacheId: cache_id, customImages: Object.fromEntries(custom) as Record<string, string> };
    });
  } catch (error) {
    if (!(error instanceof CallError || error instanceof UnreachableError)) throw error;
    if (!error.message.includes('HTTP 401')) return undefined;
    const advice = 'give --token, or --local to leave that engine alone';
    throw new UsageError(`${engineUrl(options)} wants a token: ${advice}`, { cause: error });
  }
}

/** An engine of another version reports no id; it is assumed to belong to this user. */
function requireSameCache(cacheId: string | undefined, known: EngineImages, url: string): void {
  if (known.cacheId === undefined || known.cacheId === cacheId) return;
  throw new UsageError(
    `the engine at ${url} has another image cache than this configuration; give its configuration file with -c, or --local to work on this one`,
  );
}

/** The block of the configuration, or the shipped one. */
export function sandboxConfig(named: string | undefined) {
  return sandbox.config.parse(blockOf(sandbox, named) ?? sandbox.shippedBlock);
}

/** The block of a worker in the configuration file, if there is one. */
export function blockOf({ name }: { name: string }, named: string | undefined): unknown {
  const file = findConfigFile(named);
  const entries = file === undefined ? [] : parseEntries(readConfigFile(file), availableWorkers);
  return entries.find(({ def }) => def.name === name)?.config;
}

/** One line on a terminal, overwritten until the work is done; nothing elsewhere. */
export function showProgress(progress: ImageProgress): void {
  showLine(progressText(progress));
}

export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
