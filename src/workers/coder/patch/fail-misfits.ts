/** Builds the C222 failure of a patch whose chunks do not match: the first is the message, the others are `others`. */
import type { Failure } from '#contract';
import { errors } from '../errors.ts';
import type { Misfit } from './misfit.ts';
import type { PatchLines } from './patch.ts';
import type { Region } from './region.ts';
import { rewritePatch } from './rewrite.ts';

const MAX_SHOWN_CHARS = 8192;

/** A chunk that does not match, with its file and the version of that file. */
export interface FileMisfit extends Misfit {
  file: string;
  version: string;
}

/** The failure has a `fix` if every chunk matches once its whitespace is rewritten as in the file. */
export function failMisfits(misfits: readonly FileMisfit[], lines: PatchLines): Failure {
  const [first, ...others] = withinRoom(misfits);
  const rewritten = misfits.map((misfit) => misfit.rewritten).filter((map) => map !== undefined);
  const fix = rewritten.length === misfits.length ? { patch: rewritePatch(lines, rewritten) } : undefined;
  return errors.fail('C222', {
    ...reported(first!),
    ...(others.length > 0 && { others: others.map(reported) }),
    ...(fix && { fix }),
  });
}

/** Limits the file lines in the failure: the first chunk keeps its lines, the others while they fit the limit. */
function withinRoom(misfits: readonly FileMisfit[]): FileMisfit[] {
  let left = MAX_SHOWN_CHARS;
  return misfits.map((misfit) => {
    const { text = '', ...nearest } = misfit.nearest ?? {};
    const isShown = left === MAX_SHOWN_CHARS || text.length <= left;
    if (isShown) left -= text.length;
    return isShown ? misfit : { ...misfit, nearest: nearest as Region };
  });
}

function reported({ rewritten, problem, file, chunk, ...facts }: FileMisfit) {
  return { problem: `chunk ${chunk} of ${file} ${problem}`, file, chunk, ...facts };
}
