/**
 * A process that edits files is killed again and again. Every file is the old or the new one, and the next server
 * removes the leftovers, wherever they are, even if no call writes.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { rounds, serveWorker, tempDir } from '#testing';
import { coder } from '#workers/coder';
import { tempName } from '../../../src/host/changes/atomic-write-temp.ts';
import { leftoversIn } from './jail-write-support.ts';

const KILLS = rounds(6, 60, 1000);
const START_MS = 30_000;
const EDITOR = fileURLToPath(new URL('jail-write-editor.mjs', import.meta.url));

test('coder.P7 SIGKILL during edits leaves whole files, and nothing else once a server was started there again', async () => {
  await using dir = await tempDir({ 'ws/': '' });
  const workspace = dir.path('ws');

  const found = { broken: 0, leftovers: 0 };
  let lastPid: number | undefined;
  // A busy machine may kill an editor only before its first write: then more kills are needed to hit one.
  for (let kill = 0; kill < KILLS || (found.leftovers === 0 && kill < 20 * KILLS); kill++) {
    const editor = startEditor(workspace);
    await once(editor, 'message', { signal: AbortSignal.timeout(START_MS) });
    await sleep(Math.random() * 40);
    lastPid = editor.pid;
    editor.kill('SIGKILL');
    await once(editor, 'exit');

    found.broken += brokenIn(workspace).length;
    found.leftovers += leftoversIn(workspace).length;
  }
  console.log(`${KILLS} kills or more:`, found);
  expect(found.broken).toBe(0);
  expect(found.leftovers).toBeGreaterThan(0);
  // Each began by cleaning up after the one before, and the last may have been killed between two writes.
  const left = tempName().replace(`-${process.pid}-`, `-${lastPid}-`);
  mkdirSync(join(workspace, 'd0', 'deep'), { recursive: true });
  writeFileSync(join(workspace, 'd0', 'deep', left), '');

  await using server = await serveWorker(coder, { base_path: workspace });
  await expect.poll(() => leftoversIn(workspace)).toEqual([]);
  await server.stop();
  expect(readdirSync(workspace).filter((name) => !/^d[0-2]$/.test(name))).toEqual([]);
}, 600_000);

function startEditor(workspace: string): ChildProcess {
  return fork(EDITOR, [workspace], { execArgv: [] });
}

function brokenIn(workspace: string): string[] {
  const files = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.startsWith('.'),
  );
  return files
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => {
      const [letters = '', length] = readFileSync(path, 'latin1').split('\n');
      return letters !== letters[0]?.repeat(Number(length));
    });
}
