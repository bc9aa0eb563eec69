/**
 * Activity of commands beside the files of a change: command lines, and hosts requested from the egress proxy.
 * The approver of the change sees both.
 *
 * One JSON line for each, in the store of the change, so that it outlives the server. A command decides how many hosts
 * it requests, so text and lines are bounded.
 */
import { appendFileSync, readFileSync, statSync } from 'node:fs';

import { isCode } from './layer-store.ts';

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

  constructor(path: string) {
    this.#path = path;
  }

  ran(words: readonly string[]): void {
    this.#add({ command: words.join(' ').slice(0, MAX_TEXT), at_ms: Date.now() });
  }

  asked(host: string, verdict: HostVerdict): void {
    const key = `${verdict} ${host}`;
    if (this.#hosts.has(key)) return;
    this.#hosts.add(key);
    this.#add({ host: host.slice(0, MAX_TEXT), verdict });
  }

  read(): Activity {
    const lines = this.#lines();
    const hosts = new Map(lines.flatMap((line) => ('host' in line ? [[`${line.verdict} ${line.host}`, line]] : [])));
    const commands = lines.filter((line) => 'command' in line);
    return { commands, hosts: [...hosts.values()], isCut: this.#isFull() };
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
    if (!this.#isFull()) appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  }

  #isFull(): boolean {
    return (statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0) >= MAX_BYTES;
  }
}
