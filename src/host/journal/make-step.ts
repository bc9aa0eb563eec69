/** Makes a planned step of a write set: stages the new file, then keeps the old one and replaces it. */
import { lstatSync } from 'node:fs';

import { linkAside, putStaged } from '../changes/stage.ts';
import type { JailEntry } from '../jail/jail-entry.ts';
import { deltaOf } from './delta.ts';
import { MAX_HASHED_BYTES } from './open-record.ts';
import { findAgain, requireSeen, type Planned, type PlanScope } from './set-checks.ts';
import type { Step } from './set-steps.ts';
import type { ImageStore } from './store.ts';

/** Larger files are not read for a difference. */
const MAX_COMPARED_BYTES = 1 << 20;

/** Stages the new file and appends the step to the prepared file. */
export async function stageStep({ step, stage }: Planned, { jail, prepared }: PlanScope): Promise<void> {
  using entry = findAgain(step, jail);
  if (stage) {
    const { name, stat } = await stage(entry);
    step.temp = name;
    step.ino = stat.ino;
  }
  prepared.add(step);
}

/** Keeps the before-image, then makes the change. */
export async function makeStep(
  { step, found, content, make }: Planned,
  { jail, journal: { store } }: PlanScope,
): Promise<void> {
  using entry = findAgain(step, jail);
  requireSeen(entry, found ?? 'nothing');
  const isKept = await keepImage(entry, step, store);
  addDelta(step, store, content);
  if (make) await make(entry);
  else putStaged(entry, { name: step.temp! }, { isKept });
  step.ino ??= entry.act((at) => lstatSync(at, { throwIfNoEntry: false }))?.ino;
}

/** The new content as its difference from the before-image, which a merge needs when the step is undone or redone. */
function addDelta(step: Step, store: ImageStore, content: Planned['content']): void {
  const { before, after } = step;
  if (!content || before.kind !== 'file' || before.image === undefined || after.kind !== 'file') return;
  if (Math.max(before.size, after.size) > MAX_COMPARED_BYTES) return;
  const delta = deltaOf(store.read(before.image), content());
  if (delta) step.after = { ...after, delta };
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
