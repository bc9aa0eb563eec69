/**
 * The tokens that this server accepts, found by the hash of the secret.
 *
 * Comparing hashes takes the same time for every secret, so the time of an answer says nothing about how much of a guess
 * was right. The secrets themselves are not kept.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

import { ConfigError } from '#contract';
import type { TokenConfig } from '../config.ts';

/** Name and policy of a token. */
export interface NamedToken {
  readonly name: string;
  /** The policy of its calls; everything is allowed without one. */
  readonly policy?: string | undefined;
}

export interface TokenEntry extends NamedToken {
  readonly sha256: string;
  /** Time of its end in milliseconds since 1970. */
  readonly expiresAtMs?: number | undefined;
}

export type Lookup = { readonly token: NamedToken } | { readonly problem: 'unknown' | 'expired' };

export function sha256Of(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

export function lookUp(entries: readonly TokenEntry[], secret: string, nowMs = Date.now()): Lookup {
  const given = Buffer.from(sha256Of(secret), 'hex');
  let found: TokenEntry | undefined;
  // Every entry is compared, so that the position of the right one does not show either.
  for (const entry of entries) if (timingSafeEqual(Buffer.from(entry.sha256, 'hex'), given)) found ??= entry;
  if (!found) return { problem: 'unknown' };
  const { name, policy, expiresAtMs } = found;
  if (expiresAtMs !== undefined && nowMs >= expiresAtMs) return { problem: 'expired' };
  return { token: { name, policy } };
}

/** The tokens of a configuration; a variable that holds no secret is an error, or every guess would be right. */
export function configuredTokens(configs: readonly TokenConfig[], env: NodeJS.ProcessEnv): TokenEntry[] {
  return configs.map(({ name, sha256, env: variable, policy, expires }, at) => {
    const secret = variable === undefined ? undefined : env[variable];
    if (sha256 === undefined && !secret) {
      throw new ConfigError(
        `access.tokens[${at}]: environment variable ${variable} is not set; it holds the secret of ${name}`,
      );
    }
    return {
      name,
      sha256: (sha256 ?? sha256Of(secret!)).toLowerCase(),
      policy,
      expiresAtMs: expires === undefined ? undefined : Date.parse(expires),
    };
  });
}
