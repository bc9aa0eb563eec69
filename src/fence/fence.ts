/**
 * Runs commands of this host inside namespaces that all commands of a server share.
 *
 * They are made for the first command, because a server may never get one. Where that fails, every command fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

import type { Log } from '#contract';
import type { OnHost, RefusedTarget } from '#egress';
import { isListening, type Launch, type MountedLayer } from '#host';
import { buildPrograms, type Programs } from './build-launcher.ts';
import { FenceError } from './fence-error.ts';
import { Holder } from './holder.ts';
import { hostSockets } from './host-sockets.ts';
import { layOut, type Layout, type LayoutOptions } from './layout.ts';
import { ProtectedFiles } from './protected-files.ts';
import { hostRegistries } from './registries.ts';
import { EgressSocket, type EgressRules } from './egress-socket.ts';

export type FenceNetwork = 'none' | 'loopback' | 'egress';

export interface FenceOptions extends LayoutOptions {
  /** Globs of the files of the workspace that commands cannot open. */
  readonly protect: readonly string[];
  readonly network: FenceNetwork;
  /** Hosts that commands reach with `egress`, beside the registries that the user has set up. */
  readonly egress: EgressRules;
  readonly log: Log;
  /** The layer of a change, in place of the workspace. */
  readonly layer?: MountedLayer | undefined;
  /** Gets each decision of the egress proxy. */
  readonly onHost?: OnHost | undefined;
}

/** Prefix for variables that programs outside the fence must not obey; the launcher removes it. */
export const VARIABLE_PREFIX = 'FENCED_';

interface Opened {
  readonly programs: Programs;
  readonly layout: Layout;
  readonly holder: Holder;
  readonly egressSocket: EgressSocket | undefined;
}

export class Fence {
  readonly #options: FenceOptions;
  readonly #protected: ProtectedFiles;
  #opening: Promise<Opened> | undefined;

  constructor(options: FenceOptions) {
    this.#options = options;
    this.#protected = new ProtectedFiles(options.workspace, options.protect, options.layer?.view);
  }

  /** Builds the fence unless it is built. Rejects with a `FenceError`. */
  async open(): Promise<Opened> {
    const opening = (this.#opening ??= this.#open());
    try {
      const opened = await opening;
      if (opened.holder.isAlive) return opened;
      await closed(opened);
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    }
    if (this.#opening === opening) this.#opening = undefined;
    return await this.open();
  }

  /** The launch of one command: protected files are listed anew for each. */
  async launch(): Promise<Launch> {
    const opened = await this.open();
    const masks = [...(await this.#protected.find()), ...hostSockets(opened.layout.isCovered)];
    return (command) => ({
      argv: this.#words(opened, masks, command),
      cwd: '/',
      env: Object.fromEntries(Object.entries(command.env).map(([name, value]) => [VARIABLE_PREFIX + name, value])),
      descriptors: opened.holder.descriptors,
    });
  }

  /** Variables of every command inside. */
  async environment(): Promise<Record<string, string>> {
    const { layout, egressSocket } = await this.open();
    return { HOME: layout.home, ...egressSocket?.env };
  }

  /** Collects hosts that commands were refused from now on, until it is read. */
  watchRefusals(): () => Promise<RefusedTarget[]> {
    const watching = this.#opening?.then(({ egressSocket }) => egressSocket?.watchRefusals());
    return async () => (await watching?.catch(() => undefined))?.() ?? [];
  }

  /** Whether a command inside listens on a port of the loopback address. */
  async isListening(port: number): Promise<boolean> {
    const opened = await this.#opening?.catch(() => undefined);
    return opened !== undefined && (await isListening(port, opened.holder.network));
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    if (opened) await closed(opened);
  }

  async #open(): Promise<Opened> {
    if (process.platform !== 'linux') {
      throw new FenceError('the fence needs namespaces of Linux', 'run on Linux, or start with fence: off');
    }
    const layout = layOut(this.#options);
    const programs = await buildPrograms();
    const { network, egress } = this.#options;
    const egressSocket =
      network === 'egress' ? await EgressSocket.open(egress, hostRegistries(), this.#options) : undefined;
    try {
      const options = [...layout.options, ...(egressSocket ? ['--proxy', egressSocket.path] : [])];
      const holder = await Holder.start(programs.launcher, options, this.#options.layer);
      const opened = { programs, layout, holder, egressSocket };
      await this.#try(opened).catch(async (error: unknown) => {
        await holder.close();
        throw error;
      });
      return opened;
    } catch (error) {
      egressSocket?.close();
      throw error;
    }
  }

  #words(
    { programs }: Opened,
    masks: readonly string[],
    { argv, cwd, terminalPath }: Pick<Parameters<Launch>[0], 'argv' | 'cwd' | 'terminalPath'>,
  ): string[] {
    return [
      ...[programs.launcher, 'enter', '--cwd', cwd, '--filter', programs.filter],
      ...['--network', this.#options.network === 'none' ? 'none' : 'shared'],
      ...(terminalPath === undefined ? [] : ['--terminal', terminalPath]),
      ...masks.flatMap((path) => ['--mask', path]),
      ...['--', ...argv],
    ];
  }

  /** Runs a test command: some systems allow the namespaces but refuse mounts that commands need, such as /proc. */
  async #try(opened: Opened): Promise<void> {
    const command = { argv: ['/bin/sh', '-c', ':'], cwd: this.#options.workspace, terminalPath: undefined };
    const [program, ...words] = this.#words(opened, [], command);
    const tried = spawn(program!, words, {
      cwd: '/',
      env: {},
      stdio: ['ignore', 'ignore', 'pipe', ...opened.holder.descriptors],
    });
    let problem = '';
    tried.stderr!.setEncoding('utf8').on('data', (text: string) => (problem += text));
    const [code] = await once(tried, 'close');
    if (code !== 0) throw new FenceError(problem.trim() || `a command ended with ${code}`, Holder.fix);
  }
}

async function closed({ holder, egressSocket }: Opened): Promise<void> {
  await holder.close();
  egressSocket?.close();
}
