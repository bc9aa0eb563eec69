/** Copies files of the workspace into a sandbox. */
import { HostError } from '#host';
import type { CallScope } from '#contract';
import { errors } from '../errors.ts';
import { findFiles } from '../find-files.ts';
import { inWorkspace, isGlob, wholeGlob } from '../paths.ts';
import type { AgentContext } from '../worker.ts';

export const WORK = '/work';

const MAX_FILES = 2000;
const MAX_BYTES = 64 * 2 ** 20;
const WRITE_MS = 60_000;
/** Concurrent writes. */
const LANES = 8;

interface Around {
  readonly context: AgentContext;
  readonly scope: CallScope;
}

/** Globs and folders skip files that .gitignore excludes; a file that the caller names is always copied. */
export async function filesToCopy(wanted: readonly string[], { context, scope }: Around): Promise<string[]> {
  const paths = new Set<string>();
  for (const one of wanted) for (const path of await filesOf(one, context, scope)) paths.add(path);
  if (paths.size > MAX_FILES) {
    throw errors.fail('A210', {
      problem: `files: ${paths.size} files match; at most ${MAX_FILES} are copied; name fewer`,
    });
  }
  return [...paths];
}

export async function copyIn(sandboxId: string, paths: readonly string[], { context, scope }: Around): Promise<void> {
  let left = MAX_BYTES;
  const waiting = paths.values();
  const lane = async () => {
    for (const path of waiting) {
      using file = context.jail.open(path);
      left -= file.size;
      if (left < 0) {
        throw errors.fail('A210', {
          problem: `files: the matched files are over ${MAX_BYTES} bytes in total; name fewer`,
        });
      }
      const mode = (file.stat.mode & 0o100) === 0 ? '0644' : '0755';
      const content_b64 = (await file.read()).toString('base64');
      const request = { sandbox_id: sandboxId, path: `${WORK}/${path}`, parents: true, mode, content_b64 };
      await scope.bus.call('sandbox::fs::write', request, { timeoutMs: WRITE_MS, signal: scope.signal });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}

async function filesOf(wanted: string, context: AgentContext, scope: CallScope): Promise<string[]> {
  if (isGlob(wanted)) {
    const { paths } = await findFiles({ include: [wholeGlob(wanted, context)] }, context, scope);
    if (paths.length === 0) throw errors.fail('A211', { path: wanted, hint: ': no file matches' });
    return paths;
  }
  const path = inWorkspace(wanted, context);
  using entry = context.jail.target(path);
  if (!entry.stat) throw new HostError('missing', wanted);
  return entry.stat.isDirectory() ? (await findFiles({ path }, context, scope)).paths : [context.jail.spell(entry)];
}
