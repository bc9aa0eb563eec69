/**
 * Checks and records the callers of a server: holds access rules, the audit, and the key of the operator's commands.
 *
 * The key is a file of the state directory that only the server's user can read, and that no file function and no
 * fenced command reaches: a command that sends it is a person's.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { AuditLog, Auditor, LiveAccess, Mask, type AccessConfig } from '#access';
import { shippedCell, type Audit, type CellConfig, type Log } from '#contract';
import { otlpHeaderSecrets, stateDirOf, withhold } from '#host';
import { openAccess, shippedAccess } from './access.ts';
import { parseAccess, parseCell } from './config-file.ts';

const KEY_BYTES = 32;
const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC']);
/** Interval at which the calls, jobs and sandboxes of removed tokens are ended; new calls are refused at once. */
const CHECK_MS = 1_000;

export interface Guard {
  readonly access: LiveAccess;
  readonly audit?: Audit | undefined;
  readonly operatorKey: string;
  /** Checks the access rules of a changed configuration file; the returned function applies them. */
  prepare(text: string): () => void;
  /** Reports tokens that were accepted and are no longer, or have another policy. */
  onTokenGone(report: (name: string) => void): void;
  close(): void;
}

export interface GuardOptions {
  config: AccessConfig;
  workspace: string;
  stateDir: string;
  log: Log;
}

/** The guard of a server with this configuration file, or without one. */
export function guardFor(
  text: string | undefined,
  { workspace, cell, log }: { workspace: string; cell?: Partial<CellConfig> | undefined; log: Log },
): Guard {
  const config = text === undefined ? shippedAccess : parseAccess(text);
  const stateDir = stateDirOf({ ...(text === undefined ? shippedCell : parseCell(text)), ...cell });
  return openGuard({ config, workspace, stateDir, log });
}

export function openGuard({ config, workspace, stateDir, log }: GuardOptions): Guard {
  const access = new LiveAccess(openAccess(config, { workspace, stateDir, log }));
  const operatorKey = unlessReadOnly(stateDir, log, () => operatorKeyIn(stateDir)) ?? newKey();
  const { max_bytes: maxBytes, keep } = config.audit;
  const mask = new Mask(process.env, [operatorKey, ...otlpHeaderSecrets(process.env), ...withholdSecrets(config)]);
  const records =
    maxBytes === 0 ? undefined : unlessReadOnly(stateDir, log, () => AuditLog.open(stateDir, { maxBytes, keep }));
  const audit = records && new Auditor(records, { mask, log });
  let checking: NodeJS.Timeout | undefined;
  let isClosed = false;
  return {
    access,
    audit,
    operatorKey,
    prepare(text) {
      const changed = parseAccess(text);
      const next = openAccess(changed, { workspace, stateDir, log });
      // Throws for a list of tokens that is damaged now; later ones are only reported.
      void next.hasTokens;
      return () => {
        mask.add(withholdSecrets(changed));
        access.replace(next);
      };
    },
    onTokenGone(report) {
      checking = setInterval(() => access.takeGone().forEach(report), CHECK_MS).unref();
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      clearInterval(checking);
      audit?.close();
    },
  };
}

/** Keeps the variables that hold tokens from commands, and returns their values for the mask. */
function withholdSecrets({ tokens }: AccessConfig): string[] {
  const variables = tokens.flatMap(({ env }) => env ?? []);
  withhold(variables);
  return variables.flatMap((name) => process.env[name] ?? []);
}

function newKey(): string {
  return `wco_${randomBytes(KEY_BYTES).toString('base64url')}`;
}

/** A server whose home is read-only still serves; without the folder it keeps no audit and no key for commands. */
function unlessReadOnly<T>(stateDir: string, log: Log, open: () => T): T | undefined {
  try {
    return open();
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!UNWRITABLE.has(code)) throw error;
    log.warn('the state directory cannot be written: no audit is kept and `workcell approvals` cannot answer', {
      stateDir,
      code,
    });
    return undefined;
  }
}

/** Made by the first server or command that needs it. */
export function operatorKeyIn(stateDir: string): string {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const path = join(stateDir, 'operator.key');
  try {
    writeFileSync(path, `${newKey()}\n`, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}
