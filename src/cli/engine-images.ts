/**
 * Asks a running engine for its image cache, for the image commands: they work on its cache, under its names, or
 * explain why not.
 */
import { z } from 'zod';

import { connect } from '#client';
import { CallError, silentLog } from '#contract';
import { UsageError, type CommandInput } from './command.ts';
import { engineToken, engineUrl } from './engine-address.ts';

const Catalogue = z.object({
  images: z.array(z.object({ name: z.string(), oci_ref: z.string(), kind: z.string() })),
  cache_id: z.string().optional(),
});

/** A local engine answers much faster. */
const ANSWER_MS = 5000;

export interface EngineImages {
  cacheId: string | undefined;
  customImages: Record<string, string>;
}

/** Undefined when no engine runs, or one without sandboxes. */
export async function askEngine(options: CommandInput['options']): Promise<EngineImages | undefined> {
  const url = engineUrl(options);
  try {
    const bus = await connect(url, {
      name: `workcell-cli:${process.pid}`,
      token: engineToken(options),
      log: silentLog,
    });
    try {
      const reply = await bus.call('sandbox::catalog::list', {}, { timeoutMs: ANSWER_MS });
      const { images, cache_id } = Catalogue.parse(reply);
      const custom = images.filter(({ kind }) => kind === 'custom').map(({ name, oci_ref }) => [name, oci_ref]);
      return { cacheId: cache_id, customImages: Object.fromEntries(custom) as Record<string, string> };
    } finally {
      bus.close();
    }
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (!error.message.includes('HTTP 401')) return undefined;
    throw new UsageError(`${url} wants a token: give --token, or --local to leave that engine alone`, { cause: error });
  }
}

/** An engine of another version reports no id; it is assumed to belong to this user. */
export function requireSameCache(cacheId: string | undefined, known: EngineImages, url: string): void {
  if (known.cacheId === undefined || known.cacheId === cacheId) return;
  throw new UsageError(
    `the engine at ${url} has another image cache than this configuration; give its configuration file with -c, or --local to work on this one`,
  );
}
