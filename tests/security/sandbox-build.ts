/** The sandbox's sources as plain JavaScript in a folder, with the C programs beside them: Node 20 runs no TypeScript. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ENTRANCES = [
  'workers/sandbox/backends/gvisor/gvisor-backend.ts',
  'workers/sandbox/backends/namespaces/namespaces-backend.ts',
  'workers/sandbox/backends/qemu/qemu-backend.ts',
  'workers/sandbox/backends/warm-pool.ts',
  'sandbox/guest/agent-client.ts',
];

export async function buildSandbox(folder: string): Promise<void> {
  const compilerOptions = { outDir: folder, rootDir: join(ROOT, 'src'), incremental: false, noCheck: true };
  const files = ENTRANCES.map((name) => join(ROOT, 'src', name));
  const config = { extends: join(ROOT, 'tsconfig.build.json'), compilerOptions, files, include: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', imports: { '#*': './*/index.js' } }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  for (const source of sources.filter((name) => /\.[ch]$/.test(name))) {
    const target = join(folder, source);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(ROOT, 'src', source), target);
  }
}
