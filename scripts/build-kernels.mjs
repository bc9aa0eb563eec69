/**
 * Compiles the kernels from AssemblyScript to WebAssembly.
 *
 * The module goes beside its source and beside the compiled loader, so that tests on `src` and the program in
 * `dist` each find it next to themselves. The source is not named `.ts`: only this compiler reads its types.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import asc from 'assemblyscript/asc';

const SOURCE = 'src/host/kernels/kernels.as';
const TARGETS = ['src/host/kernels/kernels.wasm', 'dist/host/kernels/kernels.wasm'];

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const { error, binary, stderr } = await asc.compileString(
  { 'kernels.ts': readFileSync(SOURCE, 'utf8') },
  { optimizeLevel: 3, noAssert: true, runtime: 'stub', enable: ['simd'], importMemory: true },
);
if (error || !binary) {
  process.stderr.write(`${SOURCE} does not compile:\n`);
  process.stderr.write(stderr.toBuffer());
  process.exit(1);
}
for (const target of TARGETS) {
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, binary);
}
