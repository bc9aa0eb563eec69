/**
 * A process that edits files is killed again and again. Every file is the old or the new one, and whoever edits
 * next in a directory finds it clean.
 */
import { execFile, fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { leftoversIn } from './jail-write-support.ts';

const KILLS = process.env.WORKCELL_SOAK ? 1000 : 60;
const START_MS = 30_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EDITOR = fileURLToPath(new URL('jail-write-editor.mjs', import.meta.url));

test('SIGKILL during edits leaves whole files, and nothing else once someone edits there again', async () => {
  await using dir = await tempDir({ 'built/': '', 'ws/': '' });
  await buildHost(dir.path('built'));
  const workspace = dir.path('ws');

  const found = { broken: 0, leftovers: 0 };
  for (let kill = 0; kill < KILLS; kill++) {
    const editor = startEditor(dir.path('built'), workspace, Infinity);
    await once(editor, 'message', { signal: AbortSignal.timeout(START_MS) });
    await sleep(Math.random() * 40);
    editor.kill('SIGKILL');
    await once(editor, 'exit');

    found.broken += brokenIn(workspace).length;
    found.leftovers += leftoversIn(workspace).length;
  }
  await once(startEditor(dir.path('built'), workspace, 21), 'exit');

  console.log(`${KILLS} kills:`, found);
  expect(found.broken).toBe(0);
  expect(found.leftovers).toBeGreaterThan(0);
  expect(leftoversIn(workspace)).toEqual([]);
  expect(readdirSync(workspace)).toEqual(['d0', 'd1', 'd2']);
}, 600_000);

function startEditor(built: string, workspace: string, edits: number): ChildProcess {
  return fork(EDITOR, [built, workspace, String(edits)], { execArgv: [] });
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

/** The jail's sources as plain JavaScript: Node 20 does not run TypeScript. */
async function buildHost(folder: string): Promise<void> {
  const compilerOptions = { outDir: folder, rootDir: join(ROOT, 'src'), incremental: false, noCheck: true };
  const files = ['jail.ts', 'jail-changes.ts'].map((name) => join(ROOT, 'src/host', name));
  const config = { extends: join(ROOT, 'tsconfig.build.json'), compilerOptions, files, include: [] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await promisify(execFile)(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder]);
}
