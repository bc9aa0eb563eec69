/**
 * Receives the state of a machine from QEMU: a socket of ours, written to a file.
 *
 * QEMU could write the file through a program, but then it would have to be allowed to start programs. The socket is in
 * a directory with a short name, because socket paths are limited to about a hundred bytes.
 */
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import type { Bind } from '../bwrap-arguments.ts';

export class StateSink implements AsyncDisposable {
  readonly #dir: string;
  readonly #server: Server;
  readonly #received: Promise<void>;

  private constructor(dir: string, server: Server, file: string) {
    this.#dir = dir;
    this.#server = server;
    this.#received = once(server, 'connection').then(async ([socket]) => {
      await pipeline(socket as Socket, createWriteStream(file, { flags: 'wx', mode: 0o400 }));
    });
    // Ignored if the machine failed before it sent a state.
    this.#received.catch(() => {});
  }

  static async open(file: string): Promise<StateSink> {
    const dir = mkdtempSync(join(tmpdir(), 'workcell-state-'));
    const server = createServer().listen(join(dir, 'socket'));
    await once(server, 'listening');
    return new StateSink(dir, server, file);
  }

  /** Name of the socket in the jail. */
  get bind(): Bind {
    return { from: join(this.#dir, 'socket'), at: '/state', access: 'write' };
  }

  /** The destination as a URI of QEMU. */
  uri(isJailed: boolean): string {
    return `unix:${isJailed ? '/state' : join(this.#dir, 'socket')}`;
  }

  /** Resolves when all of it is in the file. */
  async received(): Promise<void> {
    await this.#received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
