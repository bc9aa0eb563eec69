/** The agent worker with the workers that it calls, over one directory, called as by an MCP client. */
import { connect, type Connection } from '#client';
import {
  CallError,
  failureText,
  makePrincipal,
  parseConfig,
  shippedCell,
  silentLog,
  throughDoor,
  type Grants,
} from '#contract';
import { Engine } from '#engine';
import { agent } from '#workers/agent';
import { coder } from '#workers/coder';
import { filesystem } from '#workers/filesystem';
import { sandbox } from '#workers/sandbox';
import { shell } from '#workers/shell';
import { tempDir, type TempDir, type TempEntries } from './temp-dir.ts';

/** Reply to a model: the text, and the structured reply behind it. */
export interface AgentReply<Reply = Record<string, unknown>> {
  text: string;
  reply: Reply;
}

export interface AgentCell extends AsyncDisposable {
  readonly dir: TempDir;
  readonly bus: Connection;
  /** Calls a tool by its bare name; a failure is thrown as `CallError`. */
  call(name: string, args?: object, as?: Caller): Promise<AgentReply>;
  /** The text of the reply, or of the failure. */
  text(name: string, args?: object, as?: Caller): Promise<string>;
}

export interface Caller {
  name?: string;
  grants?: Grants;
}

interface CellParts {
  /** The block of the sandbox worker, which exists only with it. */
  sandboxes?: Record<string, unknown>;
  /** Folder that the server was started in. */
  startedIn?: string;
  protect?: string[];
}

/** Commands run without a fence, so that tests pass where none can be built; `fence: 'workspace'` enables it. */
export async function agentCell(
  entries: TempEntries = {},
  config: Record<string, unknown> & { fence?: 'workspace' | 'off' } = {},
  { sandboxes, startedIn = '.', protect = shippedCell.protect }: CellParts = {},
): Promise<AgentCell> {
  const dir = await tempDir(entries);
  const log = silentLog;
  const engine = new Engine({ log });
  const open = { allowlist: [], denylist_patterns: [], rules: [], max_timeout_ms: 600_000 };
  const blocks = [
    { def: coder, block: { base_path: dir.root, fsync: false } },
    { def: filesystem, block: { paths: [dir.root], fsync: false } },
    { def: shell, block: { ...open, working_dir: dir.path(startedIn), fs: { host_root: dir.root } } },
    ...(sandboxes ? [{ def: sandbox, block: sandboxes }] : []),
    { def: agent, block: { base_path: dir.root, fsync: false, fence: 'off', ...config } },
  ];
  const opened: (() => Promise<void> | void)[] = [];
  for (const { def, block } of blocks) {
    const context = await def.open(parseConfig(def.config, block, def.name) as never, log, { ...shippedCell, protect });
    const connection = await connect(engine.dialer(), { name: def.name, isolation: 'in-process', log });
    connection.serve({ def, context });
    await connection.call('engine::workers::list');
    opened.push(() => def.close(context as never));
  }
  const bus = await connect(engine.dialer(), { name: 'caller', isolation: 'in-process', log });
  const call = async (name: string, args: object = {}, { name: label = 'one', grants }: Caller = {}) => {
    let text = '';
    const reply = await bus.call(name.includes('::') ? name : `agent::${name}`, args, {
      caller: makePrincipal('local', label, grants),
      metadata: throughDoor('model'),
      timeoutMs: 60_000,
      onText: (given) => void (text = given),
    });
    return { text, reply: reply as Record<string, unknown> };
  };
  return {
    dir,
    bus,
    call,
    text: async (...asked) => {
      try {
        return (await call(...asked)).text;
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        return failureText(error);
      }
    },
    async [Symbol.asyncDispose]() {
      for (const close of opened.reverse()) await close();
      engine.close();
      await dir[Symbol.asyncDispose]();
    },
  };
}
