/** Puts the C sources beside the compiled modules that build them on the machine where they run. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
for (const name of readdirSync('src', { recursive: true }).filter((file) => /\.[ch]$/.test(file))) {
  const target = join('dist', name);
  mkdirSync(dirname(target), { recursive: true });
  copyFileSync(join('src', name), target);
}
