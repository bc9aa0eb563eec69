#!/usr/bin/env node
/** argv → exit code. Only the version is printed without loading the commands: other programs ask for it often. */
import { version } from '#version';

// A closed pipe, such as `head`, ends the printing, not the work.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const argv = process.argv.slice(2);
if (/^(--version|-v|version)$/.test(argv[0] ?? '')) process.stdout.write(`${version}\n`);
else process.exitCode = await (await import('./run.ts')).run(argv);
