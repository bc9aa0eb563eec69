/**
 * Shared by the image commands. They work on the cache of the configuration, under the names of an engine that runs
 * over it, so that the engine finds their images. They need no engine, and refuse to work beside one that has another
 * cache.
 */
import { availableWorkers, findConfigFile, parseEntries, readConfigFile } from '#assembly';
import { silentLog } from '#contract';
import { ImageError, openImages, progressText, sandbox, type ImageProgress, type Images } from '#workers/sandbox';
import type { CommandInput, OptionSpec } from './command.ts';
import { addressOptions, engineUrl, text } from './engine-address.ts';
import { askEngine, requireSameCache } from './engine-images.ts';
import { EXIT } from './exit-codes.ts';
import { showLine } from './live-line.ts';
import { printText } from './print.ts';
import { untilSignal } from './until-signal.ts';

export const imageOptions: Record<string, OptionSpec> = {
  config: { type: 'string', short: 'c', value: 'FILE', description: 'Configuration file, as for start.' },
  json: { type: 'boolean', description: 'Print the result as JSON.' },
  local: { type: 'boolean', description: 'Use the cache of this configuration; do not ask a running engine.' },
  ...addressOptions,
};

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
    printText(`error: ${(error as Error).message}\n`, process.stderr);
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

/** The block of the configuration, or the shipped one. */
export function sandboxConfig(named: string | undefined) {
  const file = findConfigFile(named);
  const entries = file === undefined ? [] : parseEntries(readConfigFile(file), availableWorkers);
  return sandbox.config.parse(entries.find(({ def }) => def.name === sandbox.name)?.config ?? sandbox.shippedBlock);
}

/** One line on a terminal, overwritten until the work is done; nothing elsewhere. */
export function showProgress(progress: ImageProgress): void {
  showLine(progressText(progress));
}

export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
