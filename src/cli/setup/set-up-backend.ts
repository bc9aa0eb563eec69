/** Installs the packages of one backend, reports each step, and tries it. */
import { missingFor, type BackendDef, type Isolation, type Ladder, type Need } from '#workers/sandbox';
import { megabytes, showProgress } from '../sandbox/image-cache.ts';
import { clearLine, showLine } from '../live-line.ts';
import { downloadBytes, install, installCommand, whyNoInstall } from './apt.ts';
import { SetupError } from './setup-error.ts';

export interface SetupOptions {
  readonly ladder: Ladder;
  readonly cacheDir: string;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** The rungs that work now, strongest first; undefined when it cannot be set up from here. */
export async function setUpBackend(backend: BackendDef, options: SetupOptions): Promise<Isolation[] | undefined> {
  const { name } = backend;
  const { isDryRun, say } = options;
  const missing = missingFor(backend);
  if (missing.length === 0) say(`${name}: every program is here`);
  else if (!(await bringPackages(name, missing, options)) && !isDryRun) return undefined;

  await bringExtra(backend, options);
  return isDryRun ? undefined : tryRungs(name, options);
}

/** Returns whether the packages are installed now. */
async function bringPackages(
  name: string,
  missing: readonly Need[],
  { isDryRun, signal, say }: SetupOptions,
): Promise<boolean> {
  const packages = [...new Set(missing.map((need) => need.package))];
  const wishes = missing.map((need) => `${need.package} (${need.for})`).join(', ');
  const bytes = await downloadBytes(packages);
  say(`${name}: needs ${wishes}${bytes === undefined ? '' : `; ${megabytes(bytes)} MB to download`}`);

  const obstacle = whyNoInstall();
  if (isDryRun || obstacle !== undefined) {
    say(`${name}: ${isDryRun ? 'would run' : `${obstacle}; run as root`}: ${installCommand(packages)}`);
    return false;
  }
  try {
    await install(packages, signal, (line) => showLine(`${name}: ${line}`));
  } finally {
    clearLine();
  }
  say(`${name}: installed ${packages.join(', ')}`);
  return true;
}

async function bringExtra(
  { name, extra }: BackendDef,
  { cacheDir, isDryRun, signal, say }: SetupOptions,
): Promise<void> {
  if (!extra) return;
  if (isDryRun) return say(`${name}: would put ${extra.what} into ${cacheDir} unless it is there`);
  try {
    const outcome = await extra.bring(cacheDir, { signal, onProgress: showProgress }).finally(clearLine);
    say(`${name}: ${outcome}`);
  } catch (error) {
    throw new SetupError(`no ${extra.what}: ${(error as Error).message}`, { cause: error });
  }
}

async function tryRungs(name: string, { ladder, signal, say }: SetupOptions): Promise<Isolation[]> {
  const working: Isolation[] = [];
  for (const backend of ladder.rungs.filter((rung) => rung.name === name)) {
    showLine(`trying ${backend.rung}`);
    const { probe, tookMs } = await ladder.ask(backend, { signal, isFresh: true });
    clearLine();
    const secs = (tookMs / 1000).toFixed(1);
    say(`${backend.rung}: ${probe.ok ? `works, ${backend.isolation}` : `does not work: ${probe.reason}`} (${secs} s)`);
    if (probe.ok) working.push(backend.isolation);
  }
  return working;
}
