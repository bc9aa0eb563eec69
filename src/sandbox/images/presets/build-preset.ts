/**
 * Builds a preset on this machine: Debian packages by mmdebstrap, npm packages by npm, each with its own configuration.
 *
 * The image is named after the archives it is made of, and mmdebstrap is reproducible, so the same packages give the
 * same image.
 */
import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';

import { z } from 'zod';

import { ArchiveBudget, applyLayer, decompress, EPOCH_SECS, TreeWriter, type ArchiveLimits } from '#sandbox/archives';
import type { PresetName } from '../catalogue.ts';
import type { TreeRecord } from '../image-store.ts';
import { addAppFolder } from './app-folder.ts';
import { BuildError } from './build-error.ts';
import { debianSources } from './debian-sources.ts';
import { addLink, finishDebianTree, keptPath } from './debian-tree.ts';
import { runProgram } from './program.ts';
import { MERGE_USR, PRESET_RECIPES, type NpmPackage } from './recipes.ts';

const BUILD_TIMEOUT_MS = 600_000;

const WITHOUT_ROOT =
  'without root, mmdebstrap needs the package uidmap and a range of ids in /etc/subuid; an archive needs neither: ' +
  'workcell sandbox import <archive> <image>';

const READ_BYTES = 262_144;

/** Increase it when this code makes a different tree of the same archives. */
const BUILDER_VERSION = 2;

export interface PresetParts {
  readonly digest: string;
  readonly env: readonly string[];
  readonly unpack: (rootDir: string, options: { limits: ArchiveLimits; signal: AbortSignal }) => Promise<TreeRecord>;
}

interface FetchedPackage {
  readonly recipe: NpmPackage;
  readonly archive: string;
}

/** Fetches everything that the preset is made of into the work directory. */
export async function fetchPreset(
  name: PresetName,
  { workDir, signal }: { workDir: string; signal: AbortSignal },
): Promise<PresetParts> {
  const { env, npmPackages } = PRESET_RECIPES[name];
  const packages: FetchedPackage[] = [];
  // Small downloads come first, so that a missing registry is detected before the long work.
  for (const recipe of npmPackages) packages.push({ recipe, archive: await fetchNpm(recipe, { workDir, signal }) });
  const base = await fetchDebian(name, { workDir, signal });

  const inputs = [base, ...packages.map(({ archive }) => archive)];
  const digests = await Promise.all(inputs.map((archive) => digestOf(archive)));
  return {
    digest: `sha256:${hash('sha256', [BUILDER_VERSION, name, ...digests].join(' '))}`,
    env,
    unpack: (rootDir, options) => unpackPreset({ base, packages }, rootDir, options),
  };
}

async function unpackPreset(
  { base, packages }: { base: string; packages: readonly FetchedPackage[] },
  rootDir: string,
  { limits, signal }: { limits: ArchiveLimits; signal: AbortSignal },
): Promise<TreeRecord> {
  const tree = new TreeWriter(rootDir);
  const budget = new ArchiveBudget(limits);
  await applyLayer(tree, contentOf(base), budget, { rename: keptPath, signal });
  await finishDebianTree(tree, rootDir);
  for (const { recipe, archive } of packages) {
    await applyLayer(tree, contentOf(archive), budget, { rename: (path) => copiedTo(recipe, path), signal });
    for (const [path, target] of Object.entries(recipe.links)) addLink(tree, path, target);
  }
  addAppFolder(tree);
  tree.finish();
  const { bytes, entries, skipped } = budget;
  return { bytes, entries, skipped };
}

/** An npm archive has everything in one directory. */
function copiedTo({ copies }: NpmPackage, path: string): string | undefined {
  const inPackage = path.slice(path.indexOf('/') + 1);
  for (const [from, to] of copies) {
    if (from === '') return `${to}/${inPackage}`;
    if (inPackage === from) return to;
  }
  return undefined;
}

async function fetchDebian(name: PresetName, { workDir, signal }: { workDir: string; signal: AbortSignal }) {
  if (process.platform !== 'linux') throw new BuildError('presets are built on Linux only; import an archive instead');
  const { debianPackages, hook } = PRESET_RECIPES[name];
  const { suite, lines } = await debianSources(signal);
  const archive = join(workDir, 'base.tar');
  const options = ['--variant=extract', `--include=${debianPackages.join(',')}`, '--quiet'];
  const hooks = [`--setup-hook=${MERGE_USR}`, `--extract-hook=${hook}`];
  await runProgram(['mmdebstrap', ...options, ...hooks, suite, archive, ...lines], {
    signal,
    timeoutMs: BUILD_TIMEOUT_MS,
    env: { SOURCE_DATE_EPOCH: String(EPOCH_SECS) },
    hint: 'no registry answers, and building the preset needs mmdebstrap: apt-get install mmdebstrap',
    advice: process.getuid?.() === 0 ? undefined : WITHOUT_ROOT,
  });
  return archive;
}

const NpmPacked = z.array(z.object({ filename: z.string() })).length(1);

async function fetchNpm({ spec }: NpmPackage, { workDir, signal }: { workDir: string; signal: AbortSignal }) {
  const listing = await runProgram(['npm', 'pack', spec, '--json', '--pack-destination', workDir], {
    signal,
    timeoutMs: BUILD_TIMEOUT_MS,
    hint: 'no registry answers, and building the preset needs npm',
  });
  const [{ filename }] = NpmPacked.parse(JSON.parse(listing)) as [{ filename: string }];
  return join(workDir, filename);
}

function contentOf(archive: string): AsyncIterable<Uint8Array> {
  return decompress(createReadStream(archive, { highWaterMark: READ_BYTES }));
}

/** Hash of the content, so that the same files have the same digest when another version of npm packed them. */
async function digestOf(archive: string): Promise<string> {
  const summing = createHash('sha256');
  for await (const piece of contentOf(archive)) summing.update(piece);
  return summing.digest('hex');
}
