/**
 * Tokens that `workcell token add` made: a file in the state directory, mode 0600, with hashes and never a secret.
 *
 * A running server reads it again when it changed, so a token that is added or removed takes effect at once. A file that
 * was damaged meanwhile changes nothing: the server reports it and keeps the tokens that it read before.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { z } from 'zod';

import { ConfigError } from '#contract';
import { sha256Of, type TokenEntry } from './token-book.ts';

const Stored = z.strictObject({
  version: z.literal(1),
  tokens: z.array(
    z.strictObject({
      name: z.string(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      policy: z.string().optional(),
      expires_at_ms: z.number().optional(),
      added_at_ms: z.number(),
    }),
  ),
});
type StoredToken = z.output<typeof Stored>['tokens'][number];

/** 256 bits, with a prefix by which people and scanners for secrets recognise it. */
const PREFIX = 'wct_';
const SECRET_BYTES = 32;

export interface NewToken {
  name: string;
  policy?: string | undefined;
  expiresAtMs?: number | undefined;
}

export class TokenFile {
  readonly path: string;
  readonly #onDamaged: ((error: Error) => void) | undefined;
  #read: { stamp: string; tokens: StoredToken[] } | undefined;

  /** With `onDamaged`, `list` throws only when it is called first. */
  constructor(stateDir: string, { onDamaged }: { onDamaged?: (error: Error) => void } = {}) {
    this.path = join(stateDir, 'tokens.json');
    this.#onDamaged = onDamaged;
  }

  list(): readonly StoredToken[] {
    const stamp = this.#stamp();
    if (stamp !== this.#read?.stamp) this.#read = { stamp, tokens: stamp === '' ? [] : this.#parsed() };
    return this.#read.tokens;
  }

  entries(): TokenEntry[] {
    return this.list().map(({ name, sha256, policy, expires_at_ms }) => ({
      name,
      sha256,
      policy,
      expiresAtMs: expires_at_ms,
    }));
  }

  /** Returns the secret: it is stored nowhere. */
  add({ name, policy, expiresAtMs }: NewToken): string {
    const tokens = this.list();
    if (tokens.some((token) => token.name === name)) {
      throw new ConfigError(`a token "${name}" exists: remove it first, or choose another name`);
    }
    const secret = `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64url')}`;
    const token = { name, sha256: sha256Of(secret), policy, expires_at_ms: expiresAtMs, added_at_ms: Date.now() };
    this.#write([...tokens, token]);
    return secret;
  }

  /** Whether there was one. */
  remove(name: string): boolean {
    const tokens = this.list();
    const left = tokens.filter((token) => token.name !== name);
    if (left.length === tokens.length) return false;
    this.#write(left);
    return true;
  }

  #parsed(): StoredToken[] {
    try {
      return this.#parse();
    } catch (error) {
      if (!this.#read || !this.#onDamaged) throw error;
      this.#onDamaged(error as Error);
      return this.#read.tokens;
    }
  }

  #parse(): StoredToken[] {
    const parsed = Stored.safeParse(jsonOf(readFileSync(this.path, 'utf8')));
    if (parsed.success) return parsed.data.tokens;
    throw new ConfigError(`${this.path} is not a list of tokens: move it away, then add the tokens again`);
  }

  /** Replaced as a whole: a reader sees the old list or the new one. */
  #write(tokens: readonly StoredToken[]): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const draft = `${this.path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify({ version: 1, tokens }, null, 2)}\n`, { mode: 0o600 });
    renameSync(draft, this.path);
  }

  #stamp(): string {
    const stat = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    return stat ? `${stat.ino}:${stat.mtimeNs}:${stat.size}` : '';
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
