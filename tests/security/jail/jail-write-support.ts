/** A coder over a directory, its calls and the jail's changes as operations that are done or refused, and a snapshot. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

import { answer, CallControl, parseConfig, silentLog, type Bus } from '#contract';
import { HostError, type JailChoice } from '#host';
import { coder } from '#workers/coder';
import { openCoder } from '../../../src/workers/coder/worker.ts';

export type Context = ReturnType<typeof openCoder>;

const { signal } = new AbortController();

export function openContext(base_path: string, way?: JailChoice): Context {
  return openCoder(parseConfig(coder.config, { base_path, fsync: false }, 'coder'), silentLog, undefined, way);
}

/** An answered failure, as opposed to a bug. */
class Refusal extends Error {}

export async function outcome(operation: Promise<unknown>): Promise<'done' | 'refused' | 'bugs'> {
  try {
    await operation;
    return 'done';
  } catch (error) {
    return error instanceof HostError || error instanceof Refusal ? 'refused' : 'bugs';
  }
}

/** Every way to change something at a path. */
export const operations = {
  create: (context: Context, path: string) =>
    call(context, 'create-file', { files: [{ path, content: `${Math.random()}`, overwrite: true }] }),
  update: (context: Context, path: string) =>
    call(context, 'update-file', {
      files: [{ path, ops: [{ op: 'insert', at_line: 1, content: `${Math.random()}` }] }],
    }),
  delete: (context: Context, path: string) => call(context, 'delete-file', { paths: [path] }),
  deleteTree: (context: Context, path: string) => call(context, 'delete-file', { paths: [path], recursive: true }),
  makeDirectory: ({ changes }: Context, path: string) =>
    changes.onEntry(path, signal, (entry) => changes.makeDirectory(entry, { mode: 0o755, parents: true })),
  chmod: ({ changes }: Context, path: string) =>
    changes.onTarget(path, signal, async (target) =>
      changes.chmod(target, (target.stat?.mode ?? 0) & 0o100 ? 0o644 : 0o755),
    ),
  renameTo: ({ changes }: Context, path: string) => changes.rename('plain', path, { overwrite: true, signal }),
  renameFrom: ({ changes }: Context, path: string) => changes.rename(path, 'moved', { overwrite: true, signal }),
  patchAdd: (context: Context, path: string) => patch(context, `*** Add File: ${path}`, `+${Math.random()}`),
  patchUpdate: (context: Context, path: string) =>
    patch(context, `*** Update File: ${path}`, '@@', `+${Math.random()}`, '*** End of File'),
  patchDelete: (context: Context, path: string) => patch(context, `*** Delete File: ${path}`),
  patchMoveTo: (context: Context, path: string) => patch(context, '*** Update File: plain', `*** Move to: ${path}`),
  patchMoveFrom: (context: Context, path: string) => patch(context, `*** Update File: ${path}`, '*** Move to: moved'),
};

async function patch(context: Context, ...lines: string[]): Promise<void> {
  const reply = await answered(context, 'apply-patch', {
    patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
  });
  if (!('error' in reply)) return;
  throw reply.error.message.includes('internal error')
    ? new Error(reply.error.message)
    : new Refusal(reply.error.message);
}

function answered(context: Context, name: string, payload: object) {
  const fn = coder.functions.find(({ id }) => id === `coder::${name}`)!;
  const surroundings = { bus: {} as Bus, log: silentLog, control: new CallControl() };
  return answer({ def: coder, context }, fn, { callId: '1', payload }, surroundings);
}

async function call(context: Context, name: string, payload: object): Promise<void> {
  const reply = await answered(context, name, payload);
  if ('error' in reply) throw new Error(reply.error.message);

  const { results } = reply.result as { results: { success: boolean; error?: string }[] };
  if (!results[0]!.success) throw new Refusal(results[0]!.error);
}

/** Every name below with its identity, times, mode and content, so that no change goes unnoticed. */
export function snapshot(folder: string): string[] {
  return [folder, ...below(folder)].map((path) => {
    const { ino, mode, nlink, mtimeMs, ctimeMs } = lstatSync(path);
    return [path, ino, mode, nlink, mtimeMs, ctimeMs, contentOf(path)].join(' ');
  });
}

export function leftoversIn(folder: string): string[] {
  return below(folder).filter((path) => path.includes('/.workcell-'));
}

/** Does not follow symlinks. */
function below(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? [path, ...below(path)] : [path];
    })
    .sort();
}

function contentOf(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return readlinkSync(path);
  return stat.isFile() ? readFileSync(path, 'utf8') : '';
}
