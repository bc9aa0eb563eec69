/**
 * Makes one change with a journal and kills itself right before the system call with the given number.
 *
 * Arguments: workspace, state directory, the change, and the number. Exits with 0 if the change makes fewer calls, and
 * prints which calls they are.
 */
import fs from 'node:fs';

import { openJail } from '../../../dist/host/jail/jail.js';
import { JailChanges } from '../../../dist/host/changes/jail-changes.js';
import { Journal } from '../../../dist/host/journal/journal.js';
import { findUndo, makeUndo } from '../../../dist/host/journal/undo/undo.js';
import { beforeEachStep } from './before-steps.mjs';

const [workspace, stateDir, what, last] = process.argv.slice(2);
const limits = { maxBytes: 2 ** 30, maxRecords: 1000, maxAgeMs: 1e12, maxImageBytes: 2 ** 30 };
const journal = new Journal(workspace, { stateDir, limits });
const jail = openJail(workspace);
const changes = new JailChanges(jail, { isSynced: false, journalOf: () => journal });
const { signal } = new AbortController();
journal.records();

const calls = [];
beforeEachStep((name) => {
  if (calls.push(name) === Number(last)) process.kill(process.pid, 'SIGKILL');
});

const bytes = (text) => Buffer.from(text);
/** Of every kind; the test makes the same to undo it. */
const set = JSON.parse(fs.readFileSync(new URL('undo-set.json', import.meta.url), 'utf8'));
const doing = {
  write: () => changes.onTarget('a', signal, (target) => changes.write(target, bytes('A\n'))),
  remove: () => changes.onEntry('d', signal, (entry) => changes.remove(entry, { recursive: true, signal })),
  set: () =>
    changes.writeSet(
      set.map((step) => ({ ...step, content: step.content && bytes(step.content) })),
      { signal },
    ),
  chmod: () =>
    changes.onEntry('d', signal, (entry) =>
      changes.setPermissions(entry, { mode: 0o700 }, { recursive: true, signal }),
    ),
  async undo() {
    const request = { select: { seq: 1 }, onConflict: 'refuse', anyone: true };
    const context = { jail, journal, changes };
    await makeUndo(await findUndo(request, context, { signal }), context, { signal });
  },
};
await doing[what]();
console.log(JSON.stringify(calls));
