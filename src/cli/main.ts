#!/usr/bin/env node
/** argv → exit code. Only the version is printed without loading the commands: other programs ask for it often. */
import { existsSync } from 'node:fs';

import { version } from '#version';

// A closed pipe, such as that of `head`, ends the printing, not the work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const argv = process.argv.slice(2);
if (/^(--version|-v|version)$/.test(argv[0] ?? '')) process.stdout.write(`${version}\n`);
else process.exitCode = await (await commands()).run(argv);

/**
 * The bundle of scripts/bundle-cli.mjs has few files, which load in half the time. After tsc alone it is missing, and
 * the build info exists.
 */
function commands(): Promise<typeof import('./run.ts')> {
  const dist = new URL('../', import.meta.url);
  const isBundled = existsSync(new URL('bundled/run.js', dist)) && !existsSync(new URL('.tsbuildinfo', dist));
  return isBundled ? import(new URL('bundled/run.js', dist).href) : import('./run.ts');
}
