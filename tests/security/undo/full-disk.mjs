/**
 * Makes changes on small file systems and fills them right before each system call of the change that changes something.
 *
 * Arguments: two mount points, the workspace's and the store's, which may be the same, and what is used up: blocks, inodes or
 * both. Prints the outcome of each change
 * as JSON: old, new or mixed files, leftovers, errors that have no code, and what undo says when there is space again.
 */
import fs from 'node:fs';
import { join } from 'node:path';

import { HostError } from '../../../dist/host/index.js';
import { JailChanges } from '../../../dist/host/changes/jail-changes.js';
import { openJail } from '../../../dist/host/jail/jail.js';
import { Journal } from '../../../dist/host/journal/journal.js';
import { recoverSets } from '../../../dist/host/journal/recover.js';
import { findUndo, makeUndo, NoRecord } from '../../../dist/host/journal/undo/undo.js';
import { beforeEachStep } from './before-steps.mjs';

const [place, storePlace, ...kinds] = process.argv.slice(2);
const limits = { maxBytes: 2 ** 30, maxRecords: 1000, maxAgeMs: 1e12, maxImageBytes: 2 ** 30 };
const { signal } = new AbortController();
/** A call of its own each time, which gets one record. */
const caller = () => ({ throwIfAborted() {}, call: { callId: 'x' } });
const plain = { ...fs };
const BIG = 'x'.repeat(20_000);
const bytes = (text) => Buffer.from(text);

const set = [
  { kind: 'write', path: 'a', content: bytes(`A${BIG}`) },
  { kind: 'write', path: 'new/deep/n', content: bytes('n\n') },
  { kind: 'delete', path: 'd' },
  { kind: 'move', path: 'b', to: 'c' },
  { kind: 'delete', path: 'link' },
];
const write = ({ changes }, path, text) =>
  changes.onTarget(path, caller(), (target) => changes.write(target, bytes(text), { parents: true }));
const doing = {
  write: (given) => write(given, 'a', `A${BIG}`),
  create: (given) => write(given, 'p/q/made', BIG),
  remove: ({ changes }) =>
    changes.onEntry('d', caller(), (entry) => changes.remove(entry, { recursive: true, signal })),
  set: ({ changes }) => changes.writeSet(set, { signal }),
  undo: (given) => undo(given, 1),
  append: ({ journal }) => journal.begin({}, { label: 'x'.repeat(200) }).note([]),
};

/** Called before the next step; undefined while nothing is counted. */
let beforeStep;
beforeEachStep((name) => beforeStep?.(name));

const found = {};
for (const what of Object.keys(doing)) {
  for (const full of kinds) {
    const counts = (found[`${what}, ${full}`] = {
      ...{ steps: 0, old: 0, new: 0, refused: 0, undone: 0, lost: 0 },
      filledBefore: [],
      faults: [],
    });
    for (let step = 1; ; step++) if (!(await fillBefore(step, { what, full, counts }))) break;
  }
}
console.log(JSON.stringify(found));

/** False if the change makes fewer steps. */
async function fillBefore(step, { what, full, counts }) {
  const fault = (text) => counts.faults.push(`step ${step}: ${text}`);
  await replacedFilesClosed();
  makeAnew();
  if (what === 'undo') await using(open(), (given) => doing.set(given));
  const old = textsOf();
  let isFull = false;
  const given = open();
  try {
    let calls = 0;
    beforeStep = (name) => {
      if (++calls !== step) return;
      beforeStep = undefined;
      fill(full);
      isFull = true;
      counts.steps++;
      if (!counts.filledBefore.includes(name)) counts.filledBefore.push(name);
    };
    await doing[what](given);
  } catch (error) {
    counts.refused++;
    if (!(error instanceof HostError)) fault(`no code: ${error.stack}`);
  } finally {
    beforeStep = undefined;
  }
  const now = textsOf();
  // On two devices a removed directory is a copy, and made anew when there is space.
  if (place === storePlace) check(now, 'when it is full');
  makeRoom();
  await given.changes.writeSet([], { signal });
  given.journal.close();
  await using(open(), async (later) => {
    await recoverSets(later.journal);
    check(textsOf(), 'after the next start');
    const isNew = textsOf() !== old;
    counts[isNew ? 'new' : 'old']++;
    if (what !== 'append') await undoLater(later);
    await write(later, 'a', 'again');
    if (textsOf() === now) fault('no change is possible afterwards');
  });
  return isFull;

  function check(texts, when) {
    if (texts !== old && texts !== wanted(what))
      fault(`mixed ${when}: ${texts.replaceAll(BIG, 'BIG').replaceAll('\n', ' ')}`);
    if (texts.includes('.workcell-'))
      fault(`a leftover ${when}: ${texts.replaceAll(BIG, 'BIG').replaceAll('\n', ' ')}`);
  }

  async function undoLater(later) {
    const isNew = textsOf() !== old;
    try {
      const outcome = await undo(later);
      if (outcome === 'lost') counts.lost++;
      else if (outcome === 'conflict') fault('undo meets a conflict');
      else if (isNew && what !== 'undo' && textsOf() !== old) fault('undo leaves something else');
      else counts.undone++;
    } catch (error) {
      if (!(error instanceof NoRecord)) fault(`undo fails: ${error.stack}`);
      else if (isNew && what !== 'undo') fault('the change has no record');
    }
  }
}

async function using(given, work) {
  try {
    await work(given);
  } finally {
    given.journal.close();
  }
}

function open() {
  const root = join(place, 'ws');
  const journal = new Journal(root, { stateDir: join(storePlace, 'state'), limits });
  const jail = openJail(root);
  const changes = new JailChanges(jail, { isSynced: false, journalOf: () => journal });
  journal.records();
  return { journal, jail, changes };
}

async function undo({ journal, jail, changes }, seq) {
  const request = { select: seq === undefined ? {} : { seq }, onConflict: 'refuse', anyone: true };
  const context = { jail, journal, changes };
  const plan = await findUndo(request, context, { signal });
  if (plan.losses.length > 0) return 'lost';
  if (plan.conflicts.length > 0) return 'conflict';
  await makeUndo(plan, context, { signal });
  return 'undone';
}

function makeAnew() {
  for (const at of new Set([place, storePlace])) {
    for (const name of plain.readdirSync(at)) plain.rmSync(join(at, name), { recursive: true });
  }
  for (const folder of ['ws/d/y']) plain.mkdirSync(join(place, folder), { recursive: true });
  const files = { a: `a${BIG}`, b: 'b\n', 'd/x': 'x\n', 'd/y/z': 'z\n' };
  for (const [path, text] of Object.entries(files)) plain.writeFileSync(join(place, 'ws', path), text);
  plain.symlinkSync('a', join(place, 'ws/link'));
}

function fill(full) {
  for (const at of new Set([place, storePlace])) {
    if (full !== 'inodes') {
      const fd = plain.openSync(join(at, 'filler'), 'w');
      untilFull(() => plain.writeSync(fd, Buffer.alloc(4096)));
      plain.closeSync(fd);
    }
    plain.mkdirSync(join(at, 'fill'), { recursive: true });
    if (full !== 'blocks') untilFull((i) => plain.closeSync(plain.openSync(join(at, `fill/${i}`), 'w')));
  }
}

function untilFull(work) {
  try {
    for (let i = 0; ; i++) work(i);
  } catch (error) {
    if (error.code !== 'ENOSPC') throw error;
  }
}

function makeRoom() {
  for (const at of new Set([place, storePlace])) {
    for (const name of ['filler', 'fill']) plain.rmSync(join(at, name), { recursive: true, force: true });
  }
}

/** Replaced files are closed on another thread, and keep their space until then. */
async function replacedFilesClosed() {
  const isOpen = (fd) => {
    try {
      return plain.readlinkSync(`/proc/self/fd/${fd}`).endsWith(' (deleted)');
    } catch {
      return false;
    }
  };
  while (plain.readdirSync('/proc/self/fd').some(isOpen)) await new Promise((done) => setTimeout(done, 1));
}

/** Every path with its content. */
function textsOf() {
  const root = join(place, 'ws');
  return plain
    .readdirSync(root, { recursive: true })
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((path) => {
      const stat = plain.lstatSync(join(root, path));
      return `${path} ${stat.isFile() ? plain.readFileSync(join(root, path), 'utf8') : ''}`;
    })
    .join('\n');
}

/** The files after the change. */
function wanted(what) {
  const [a, b, d, link] = [`a a${BIG}`, 'b b\n', ['d ', 'd/x x\n', 'd/y ', 'd/y/z z\n'], 'link '];
  const changed = { write: [`a A${BIG}`, b, ...d, link], remove: [a, b, link], append: [a, b, ...d, link] };
  changed.create = [a, b, ...d, link, 'p ', 'p/q ', `p/q/made ${BIG}`];
  changed.set = [`a A${BIG}`, 'c b\n', 'new ', 'new/deep ', 'new/deep/n n\n'];
  changed.undo = changed.append;
  return changed[what].join('\n');
}
