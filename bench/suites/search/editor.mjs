/** Another process that edits files on request, one edit a line, and reports when each is done. */
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

const EDITS = {
  append: ({ path, text }) => appendFileSync(path, text),
  replace: ({ path, text }) => {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  },
  create: ({ path, text }) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  },
  remove: ({ path }) => rmSync(path, { recursive: true }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const edit = JSON.parse(line);
  EDITS[edit.kind](edit);
  process.stdout.write('done\n');
}
