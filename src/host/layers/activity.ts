/**
 * Activity of commands beside the files of a change: command lines, and hosts requested from the egress proxy.
 * The approver of the change sees both.
 *
 * One JSON line for each, in the store of the change, so that it outlives the server. A command decides how many hosts
 * it requests, so text and lines are bounded.
 */
import { appendFileSync, readFileSync, statSync, truncateSync } from 'node:fs';

import { isErrno } from '../host-error.ts';
import { isCode } from './layer-store.ts';
import { LayerError } from './layer.ts';

export type HostVerdict = 'allowed' | 'refused' | 'failed';

export interface RanCommand {
  readonly command: string;
  readonly at_ms: number;
}

export interface AskedHost {
  /** Host and port. */
  readonly host: string;
  readonly verdict: HostVerdict;
}

export interface Activity {
  readonly commands: readonly RanCommand[];
  readonly hosts: readonly AskedHost[];
  /** Whether there was more than is kept. */
  readonly isCut: boolean;
}

const MAX_TEXT = 500;
const MAX_BYTES = 256 * 1024;

export class LayerActivity {
  readonly #path: string;
  readonly #hosts = new Set<string>();
  #isLost = false;

  constructor(path: string) {
    this.#path = path;
  }

  /** Call it before the start. Throws a `LayerError` if the approver would not see the command. */
  ran(words: readonly string[]): void {
    try {
      this.#add({ command: words.join(' ').slice(0, MAX_TEXT), at_ms: Date.now() });
    } catch (error) {
      if (!isErrno(error)) throw error;
      const problem = `the command cannot be recorded for the approver of its change (${error.code}); free space in state_dir`;
      throw new LayerError('system', problem, { cause: error });
    }
  }

  asked(host: string, verdict: HostVerdict): void {
    const key = `${verdict} ${host}`;
    if (this.#hosts.has(key)) return;
    try {
      this.#add({ host: host.slice(0, MAX_TEXT), verdict });
      this.#hosts.add(key);
    } catch (error) {
      if (!isErrno(error)) throw error;
      // The command runs already: the approver sees that hosts are missing.
      this.#isLost = true;
    }
  }

  read(): Activity {
    const lines = this.#lines();
    const hosts = new Map(lines.flatMap((line) => ('host' in line ? [[`${line.verdict} ${line.host}`, line]] : [])));
    const commands = lines.filter((line) => 'command' in line);
    return { commands, hosts: [...hosts.values()], isCut: this.#isLost || this.#bytes() >= MAX_BYTES };
  }

  #lines(): (RanCommand | AskedHost)[] {
    try {
      const lines = readFileSync(this.#path, 'utf8').split('\n');
      // The last one is empty, or was cut off when a server was killed.
      return lines.slice(0, -1).map((line) => JSON.parse(line) as RanCommand | AskedHost);
    } catch (error) {
      if (isCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  #add(line: RanCommand | AskedHost): void {
    const bytes = this.#bytes();
    if (bytes >= MAX_BYTES) return;
    try {
      appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch (error) {
      // A full disk may have taken a part of the line, to which the next one would be added.
      if (this.#bytes() > bytes) truncateSync(this.#path, bytes);
      throw error;
    }
  }

  #bytes(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }
}
