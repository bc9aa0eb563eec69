/** Makes a planned step of a write set: stages the new file, then keeps the old one and replaces it. */
import { lstatSync } from 'node:fs';

import { accessOf } from '../changes/file-access.ts';
import { versionOf } from '../changes/jail-version.ts';
import { isSameFile } from '../changes/replaced-file.ts';
import { linkAside, putStaged } from '../changes/stage.ts';
import { HostError } from '../host-error.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import type { JailFile } from '../jail/jail-file.ts';
import { changedMeanwhile } from '../jail/pin.ts';
import { deltaOf } from './delta.ts';
import { MAX_HASHED_BYTES } from './open-record.ts';
import { findAgain, requireSeen, type Planned, type PlannedAt, type PlanScope } from './set-checks.ts';
import type { Step } from './set-steps.ts';
import type { ImageStore } from './store.ts';

/** Larger files are not read for a difference, and are hashed when they are kept. */
const MAX_READ_BYTES = 1 << 20;

/** Stages the new file beside the planned place, closes that, and adds the step to the prepared file. */
export async function stageStep({ target, step, stage, content }: PlannedAt, { prepared }: PlanScope): Promise<void> {
  using entry = target;
  if (stage) {
    using old = openOld(entry, step);
    const { name, stat } = await stage(entry, old && accessOf(old.fd, old.stat.mode, entry.path));
    step.temp = name;
    step.ino = stat.ino;
    if (old) compare(step, await old.read(), content);
  }
  prepared.add(step);
}

/** The file that will be replaced, opened once for all that the step needs of it. */
function openOld(entry: JailEntry, { before }: Step): JailFile | undefined {
  if (before.kind !== 'file' || before.image === undefined || before.size > MAX_READ_BYTES) return undefined;
  const old = entry.open();
  if (isSameFile(old.stat, entry.stat!)) return old;
  old.close();
  throw HostError.fromErrno(changedMeanwhile('ESTALE'), entry.path);
}

/**
 * Notes the version of the old file, and the new content as its difference from it, which a merge needs when the step
 * is undone or redone. If a program changes the old file before the step is made, its size or time shows that.
 */
function compare(step: Step, old: Buffer, content: Planned['content']): void {
  const { before, after } = step;
  if (before.kind === 'file' && before.version === undefined) step.before = { ...before, version: versionOf(old) };
  if (!content || after.kind !== 'file' || after.size > MAX_READ_BYTES) return;
  const delta = deltaOf(old, content());
  if (delta) step.after = { ...after, delta };
}

/** Keeps the before-image, then makes the change. */
export async function makeStep(
  { step, found, make }: Planned,
  { jail, journal: { store }, prepared }: PlanScope,
): Promise<void> {
  prepared.flush();
  using entry = findAgain(step, jail);
  requireSeen(entry, found ?? 'nothing');
  const isKept = await keepImage(entry, step, store);
  if (make) await make(entry);
  else putStaged(entry, { name: step.temp! }, { isKept });
  step.ino ??= entry.act((at) => lstatSync(at, { throwIfNoEntry: false }))?.ino;
}

/** True if the before-image is a hard link. */
async function keepImage(entry: JailEntry, step: Step, store: ImageStore): Promise<boolean> {
  const { before } = step;
  if (before.kind === 'link') step.aside = linkAside(entry);
  if (step.kind === 'mode' || before.kind !== 'file' || before.image === undefined) return false;
  const { image } = before;
  const linked = store.link(entry, image);
  if (linked === 'unlinkable') {
    store.claim(image);
    await store.copy(entry, image);
    step.aside = linkAside(entry);
  }
  const isRead = before.version === undefined && before.size <= MAX_HASHED_BYTES;
  if (isRead) step.before = { ...before, version: await store.versionOf(image) };
  return linked === true;
}
