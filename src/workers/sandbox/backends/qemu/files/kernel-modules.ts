/**
 * The kernel modules that a machine needs before it has a root, in load order.
 *
 * A package that was unpacked and not installed has no modules.dep, so the dependencies are read from each module.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { BuildError } from '#sandbox/images';

export interface KernelModule {
  readonly name: string;
  readonly content: Buffer;
}

/** Skips modules that are built into the kernel; `-` and `_` in names are equal. */
export function readModules(modulesDir: string, wanted: readonly string[]): KernelModule[] {
  const files = filesByName(modulesDir);
  const builtIn = builtInNames(modulesDir);
  const ordered = new Map<string, KernelModule>();
  const add = (name: string): void => {
    if (ordered.has(name) || builtIn.has(name)) return;
    const file = files.get(name);
    if (file === undefined) throw new BuildError(`the kernel in ${modulesDir} has no module ${name}`);
    const content = readFileSync(file);
    dependenciesOf(content).forEach(add);
    ordered.set(name, { name, content });
  };
  wanted.map(plain).forEach(add);
  return [...ordered.values()];
}

function filesByName(modulesDir: string): Map<string, string> {
  const paths = readdirSync(modulesDir, { recursive: true, encoding: 'utf8' });
  const modules = paths.filter((path) => path.endsWith('.ko'));
  return new Map(modules.map((path) => [moduleName(path), join(modulesDir, path)]));
}

function builtInNames(modulesDir: string): Set<string> {
  const list = readFileSync(join(modulesDir, 'modules.builtin'), 'utf8');
  return new Set(list.trim().split('\n').map(moduleName));
}

function moduleName(file: string): string {
  return plain(basename(file, '.ko'));
}

function plain(name: string): string {
  return name.replaceAll('-', '_');
}

/** A module contains its metadata as texts; one is this list. */
function dependenciesOf(content: Buffer): string[] {
  const label = '\0depends=';
  const at = content.indexOf(label);
  if (at < 0) return [];
  const text = content.toString('latin1', at + label.length, content.indexOf(0, at + label.length));
  return text === '' ? [] : text.split(',').map(plain);
}
