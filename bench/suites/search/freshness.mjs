/** Edits by another process, each followed by a search that must see it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { median } from '../../statistics.mjs';
import { search } from './engine.mjs';
import { rg } from './rg.mjs';

/** Answers how many searches did not see the edit before them, and the median of their time by rg's. */
export async function measureFreshness(engine, root, edits) {
  const folder = join(root, 'edited');
  const editor = spawn(process.execPath, [fileURLToPath(new URL('./editor.mjs', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const apply = async (edit) => {
    editor.stdin.write(`${JSON.stringify(edit)}\n`);
    await once(editor.stdout, 'data');
  };
  let stale = 0;
  const ratios = [];
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    for (let i = 0; i < 10; i++) writeFileSync(join(folder, `f${i}`), 'nothing yet\n');
    for (let i = 0; i < edits; i++) {
      const token = `fresh_token_${i}_`;
      const { edit, isThere } = editNumber(i, folder, token);
      await apply(edit);
      const started = performance.now();
      const { contentMatches } = await search(engine, token);
      const ms = performance.now() - started;
      if (contentMatches.length !== (isThere ? 1 : 0)) stale += 1;
      if (i % 50 === 0) ratios.push(ms / (await timeOf(() => rg(root, token))));
    }
  } finally {
    editor.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  return { stale, ratio: median(ratios) };
}

function editNumber(i, folder, token) {
  const path = join(folder, `f${i % 10}`);
  const text = `${token}\n`;
  switch (i % 4) {
    case 0:
      return { edit: { kind: 'append', path, text }, isThere: true };
    case 1:
      return { edit: { kind: 'replace', path, text }, isThere: true };
    case 2:
      return { edit: { kind: 'create', path: join(folder, `new-${i}/a/b/f`), text }, isThere: true };
    default:
      return { edit: { kind: 'remove', path: join(folder, `new-${i - 1}`) }, isThere: false };
  }
}

async function timeOf(work) {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
