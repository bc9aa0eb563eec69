/** The published Python client in an environment of its own, made once a clone. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import type { FailingCall, Seen } from './failing-calls.ts';

const VERSION = '2.3.0';
const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../../node_modules/', import.meta.url));
const home = join(cache, `.python-mcp-${VERSION}`);

/** Why it is not available; undefined when it is. */
export async function installPythonClient(): Promise<string | undefined> {
  if (existsSync(home)) return undefined;
  const draft = mkdtempSync(join(cache, '.python-mcp-new-'));
  try {
    // Installed into a plain directory, which can be renamed; an environment cannot.
    await run('python3', ['-m', 'pip', 'install', '--quiet', '--target', draft, `mcp==${VERSION}`], {
      timeout: 240_000,
    });
    renameSync(draft, home);
    return undefined;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    return existsSync(home) ? undefined : (error as Error).message.split('\n').slice(0, 3).join(' ');
  }
}

/** The text that a model reads of each call. */
export async function callFromPython(url: string, calls: readonly FailingCall[]): Promise<Seen[]> {
  const script = fileURLToPath(new URL('client.py', import.meta.url));
  const calling = run('python3', [script, url], { env: { ...process.env, PYTHONPATH: home }, timeout: 60_000 });
  calling.child.stdin!.end(JSON.stringify(calls));
  return JSON.parse((await calling).stdout) as Seen[];
}
