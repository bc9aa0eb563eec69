/** The coder worker: configuration, failures and the jail that its functions work in. */
import { ConfigError, defineWorker, type Log } from '#contract';
import { compileGlobs, GlobError, HostError, openJail, type Jail, type JailMode } from '#host';
import { configSchema, type CoderConfig } from './config.ts';
import { errors, translate } from './errors.ts';

export interface CoderContext {
  jail: Jail;
  /** Whether a path from base_path is protected; the jail itself refuses to open such a file. */
  isProtected: (relativePath: string) => boolean;
  maxReadBytes: number;
  defaultPageSize: number;
  maxPageSize: number;
}

export const coder = defineWorker({
  name: 'coder',
  summary: 'Read and list the files of one directory.',
  config: configSchema,
  workspaceDefaults: (workspace) => ({ base_path: workspace }),
  errors,
  failures: {
    badInput: (problem) => errors.fail('C210', { problem }),
    internal: (callId) => errors.fail('C216', { problem: `internal error; the log tells more under call ${callId}` }),
    deadline: (deadlineMs) => errors.fail('C216', { problem: `not done after ${deadlineMs} ms` }),
  },
  translate,
  open: openCoder,
});

/** The mode is the best one the system offers unless it is given. */
export function openCoder(config: CoderConfig, log: Log, mode?: JailMode): CoderContext {
  const isProtected = refusing('non_accessible_globs', GlobError, () => compileGlobs(config.non_accessible_globs));
  const jail = refusing('base_path', HostError, () => openJail(config.base_path, { mode, isProtected }));
  if (jail.mode === 'portable') log.warn('the path jail cannot pin files on this system; see SECURITY.md');

  return {
    jail,
    isProtected,
    maxReadBytes: config.max_read_bytes,
    defaultPageSize: config.list_default_page_size,
    maxPageSize: config.list_max_page_size,
  };
}

function refusing<T>(key: keyof CoderConfig, expected: typeof GlobError | typeof HostError, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof expected)) throw error;
    throw new ConfigError(`coder.${key}: ${error.message}`, { cause: error });
  }
}
