/** Node programs in processes of their own, started at the root of the repository so that they find the SDKs. */
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { deferred, within } from './waiting.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export class Child implements AsyncDisposable {
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  stdout = '';
  stderr = '';
  readonly #process: ChildProcess;
  #printed = deferred();

  constructor(code: string, env: NodeJS.ProcessEnv = {}) {
    this.#process = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: root,
      env: { ...process.env, OTEL_ENABLED: 'false', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
      this.#printed.resolve();
      this.#printed = deferred();
    });
    this.#process.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.exited = new Promise((done) => this.#process.on('close', (code, signal) => done({ code, signal })));
  }

  /** Resolves once the program has printed the text. */
  async printed(text: string): Promise<void> {
    const reading = async () => {
      while (!this.stdout.includes(text)) await this.#printed.promise;
    };
    const ended = this.exited.then(() => {
      if (!this.stdout.includes(text)) throw new Error(`the program ended without printing ${text}: ${this.stderr}`);
    });
    await within(Promise.race([reading(), ended]), `the line ${text}`);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#process.kill(signal);
    await within(this.exited, 'the end of the program');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }
}
