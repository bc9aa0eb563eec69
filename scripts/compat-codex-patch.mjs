/**
 * Applies the fixtures of Codex's apply_patch with coder::apply-patch, which must produce the same files.
 *
 * Fetches them with git, or takes a clone: `npm run compat:codex-patch -- ../codex`. One differs on purpose: it expects
 * that a patch which fails halfway leaves its first changes, and ours leaves none.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

import { createWorkcell } from '../dist/library/index.js';
import { report } from '../tests/compat/support/published-sdks.mjs';

const SOURCE = 'https://github.com/openai/codex';
const FOLDER = 'codex-rs/apply-patch/tests/fixtures/scenarios';
/** The fixture that expects the first changes of a failed patch. */
const LEAVES_HALF = '015_failure_after_partial_success_leaves_changes';

const scratch = mkdtempSync(join(tmpdir(), 'workcell-compat-codex-'));
const checks = [];
try {
  const fixtures = join(process.argv[2] ?? fetched(), FOLDER);
  for (const entry of readdirSync(fixtures, { withFileTypes: true })) {
    if (entry.isDirectory()) checks.push(await check(entry.name, join(fixtures, entry.name)));
  }
} finally {
  rmSync(scratch, { recursive: true });
}
report('compat:codex-patch', checks);

function fetched() {
  const clone = join(scratch, 'codex');
  const git = (...args) => execFileSync('git', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  git('clone', '--quiet', '--depth', '1', '--filter=blob:none', '--sparse', SOURCE, clone);
  git('-C', clone, 'sparse-checkout', 'set', FOLDER);
  return clone;
}

async function check(name, fixture) {
  const workspace = join(scratch, name);
  mkdirSync(workspace);
  if (existsSync(join(fixture, 'input'))) cpSync(join(fixture, 'input'), workspace, { recursive: true });
  const detail = await applied(workspace, readFileSync(join(fixture, 'patch.txt'), 'utf8'));
  const expected = name === LEAVES_HALF ? {} : filesBelow(join(fixture, 'expected'));
  const isOk = JSON.stringify(filesBelow(workspace)) === JSON.stringify(expected);
  return { name, isOk, detail };
}

async function applied(workspace, patch) {
  const cell = await createWorkcell({ workspace, workers: [{ name: 'coder' }] });
  try {
    const { results } = await cell.call('coder::apply-patch', { patch });
    return results.map(({ kind, path }) => `${kind} ${path}`).join(', ');
  } catch (error) {
    return `${error.code}: ${error.message}`;
  } finally {
    await cell.close();
  }
}

/** Contents by path, sorted by path. */
function filesBelow(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path, 'base64')]));
}
