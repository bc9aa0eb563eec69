/** Changes over one directory, with the workers whose calls work in them. */
import { connect, type Connection } from '#client';
import { CallError, parseConfig, shippedCell, silentLog, type AnyWorker, type CallOptions } from '#contract';
import { Engine } from '#engine';
import { change } from '#workers/change';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { shell } from '#workers/shell';
import { tempDir, type TempDir, type TempEntries } from './temp-dir.ts';

export interface ChangeCell extends AsyncDisposable {
  /** The workspace is `ws` in it, the state directory `state`. */
  readonly dir: TempDir;
  readonly workspace: string;
  readonly bus: Connection;
  /** A path in the workspace. */
  at(path: string): string;
  call<Reply = Record<string, never>>(functionId: string, request?: object, options?: CallOptions): Promise<Reply>;
  /** The code and the other fields of a failure. */
  failure(functionId: string, request?: object): Promise<{ code: string; message: string } & Record<string, unknown>>;
  /** Begins a change and returns its name. */
  begin(name?: string): Promise<string>;
  /** Runs a line of shell in a change, without a fence, and returns its output. */
  sh(change: string, script: string): Promise<string>;
  /** Closes the workers and opens new ones, as another start of the server does. */
  restart(): Promise<void>;
}

export interface ChangeCellOptions {
  readonly change?: Record<string, unknown>;
  readonly shell?: Record<string, unknown>;
  /** Default: `outside: as-is`, so that tests need no fence. */
  readonly outside?: 'private' | 'as-is';
  /** Runs before the workers open the directories. */
  readonly prepare?: (dir: TempDir) => void;
}

export async function changeCell(entries: TempEntries = {}, options: ChangeCellOptions = {}): Promise<ChangeCell> {
  const dir = await tempDir({
    'ws/': '',
    'state/': '',
    ...Object.fromEntries(Object.entries(entries).map(([path, entry]) => [`ws/${path}`, entry])),
  });
  options.prepare?.(dir);
  const workspace = dir.path('ws');
  const cell = { ...shippedCell, state_dir: dir.path('state') };
  const log = { ...silentLog, error: console.error };
  const engine = new Engine({ log });
  const open = { allowlist: [], denylist_patterns: [], rules: [], max_timeout_ms: 600_000 };
  const blocks: { def: AnyWorker; block: object }[] = [
    { def: coder, block: { base_path: workspace, fsync: false } },
    { def: filesystem, block: { paths: [workspace], fsync: false } },
    { def: shell, block: { ...open, fs: { host_root: workspace }, ...options.shell } },
    { def: change, block: { workspace, outside: options.outside ?? 'as-is', fsync: false, ...options.change } },
  ];
  let opened: (() => Promise<unknown>)[] = [];
  const openAll = async () => {
    for (const { def, block } of blocks) {
      const context = await def.open(parseConfig(def.config, block, def.name), log, cell);
      const connection = await connect(engine.dialer(), { name: def.name, isolation: 'in-process', log });
      connection.serve({ def, context });
      await connection.call('engine::workers::list');
      opened.push(async () => (connection.close(), await def.close(context)));
    }
  };
  const closeAll = async () => {
    for (const close of opened.toReversed()) await close();
    opened = [];
  };
  await openAll();
  const bus = await connect(engine.dialer(), { name: 'caller', isolation: 'in-process', log });
  const call = async <Reply>(functionId: string, request: object = {}, more: CallOptions = {}) =>
    (await bus.call(functionId, request, { timeoutMs: 60_000, ...more })) as Reply;
  return {
    dir,
    workspace,
    bus,
    call,
    at: (path) => dir.path(`ws/${path}`),
    async failure(functionId, request = {}) {
      try {
        await call(functionId, request);
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        return { code: error.code, message: error.message, ...error.extra };
      }
      throw new Error(`${functionId} did not fail`);
    },
    begin: async (name) => (await call<{ change: string }>('change::begin', name === undefined ? {} : { name })).change,
    async sh(name, script) {
      const request = { change: name, command: '/bin/sh', args: ['-c', script], timeout_ms: 60_000 };
      const { exit_code, stdout, stderr } = await call<{ exit_code: number; stdout: string; stderr: string }>(
        'shell::exec',
        request,
      );
      if (exit_code !== 0) throw new Error(`${script}: exit ${exit_code}: ${stderr}`);
      return stdout;
    },
    async restart() {
      await closeAll();
      await openAll();
    },
    async [Symbol.asyncDispose]() {
      await closeAll();
      engine.close();
      await dir[Symbol.asyncDispose]();
    },
  };
}
