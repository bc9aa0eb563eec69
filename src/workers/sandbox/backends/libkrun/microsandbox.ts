/**
 * As much of the npm package `microsandbox` as the adapter uses, in types of our own.
 *
 * The package is an optional peer: nobody has to install its 90 MB, so it is neither imported nor typed by name. Written
 * for 0.6.
 */
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';

export type ExecEvent =
  | { kind: 'started'; pid: number }
  | { kind: 'stdout'; data: Uint8Array }
  | { kind: 'stderr'; data: Uint8Array }
  | { kind: 'exited'; code: number };

export interface ExecStream {
  /** Null once the stream has ended. */
  recv(): Promise<ExecEvent | null>;
  takeStdin(): Promise<{ write(data: Uint8Array): Promise<void>; close(): Promise<void> } | null>;
}

export interface ExecOptions {
  args(args: string[]): this;
  user(user: string): this;
  stdinPipe(): this;
}

export interface Patches {
  copyFile(source: string, target: string, options: { mode: number }): this;
}

export interface MachineBuilder {
  image(reference: string): this;
  pullPolicy(policy: string): this;
  cpus(count: number): this;
  memory(mib: number): this;
  rootDisk(mib: number): this;
  hostname(name: string): this;
  disableNetwork(): this;
  /** Nothing of it is kept once it stops. */
  ephemeral(isEphemeral: boolean): this;
  patch(configure: (patches: Patches) => Patches): this;
  create(): Promise<KrunMachine>;
}

export interface Metrics {
  memoryBytes: number;
  vcpuTimeNs: number;
  upperUsedBytes: number | null;
}

export interface KrunMachine {
  execStreamWith(command: string, configure: (options: ExecOptions) => ExecOptions): Promise<ExecStream>;
  metrics(): Promise<Metrics>;
  kill(): Promise<void>;
  destroy(options: { force: boolean }): Promise<void>;
}

export interface Microsandbox {
  isInstalled(): boolean;
  Image: { load(archive: string, options: { tag: string }): Promise<unknown> };
  Sandbox: {
    builder(name: string): MachineBuilder;
    list(): Promise<{ sandboxes: { name: string; destroy(options: { force: boolean }): Promise<void> }[] }>;
  };
}

const PACKAGE: string = 'microsandbox';

export async function loadMicrosandbox(): Promise<Microsandbox> {
  return (await import(PACKAGE)) as Microsandbox;
}

/** Where it is and since when; empty when it is not installed. */
export function findMicrosandbox(): string {
  try {
    const path = createRequire(import.meta.url).resolve(PACKAGE);
    return `${path} ${statSync(path).mtimeMs}`;
  } catch {
    return '';
  }
}
