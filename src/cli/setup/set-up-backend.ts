/** Brings what one backend needs, tells each step, and tries it. */
import { missingFor, prepareKernel, type BackendName, type Isolation, type Ladder, type Need } from '#workers/sandbox';
import { clearProgress, megabytes, showProgress } from '../image-cache.ts';
import { downloadBytes, install, installCommand, whyNoInstall } from './apt.ts';
import { SetupError } from './setup-error.ts';

export interface SetupOptions {
  readonly ladder: Ladder;
  readonly cacheDir: string;
  readonly isDryRun: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** What works now, from the strongest; undefined when it cannot be set up from here. */
export async function setUpBackend(name: BackendName, options: SetupOptions): Promise<Isolation[] | undefined> {
  const { isDryRun, say } = options;
  const missing = missingFor(name);
  if (missing.length === 0) say(`${name}: every program is here`);
  else if (!(await bringPackages(name, missing, options)) && !isDryRun) return undefined;

  if (name === 'qemu') await bringKernel(options);
  return isDryRun ? undefined : tryRungs(name, options);
}

/** Whether they are here now. */
async function bringPackages(
  name: BackendName,
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
    clearProgress();
  }
  say(`${name}: installed ${packages.join(', ')}`);
  return true;
}

async function bringKernel({ cacheDir, isDryRun, signal, say }: SetupOptions): Promise<void> {
  if (isDryRun) return say(`qemu: would put Debian’s kernel for clouds into ${cacheDir} unless it is there`);
  try {
    const { version } = await prepareKernel(cacheDir, { signal, onProgress: showProgress }).finally(clearProgress);
    say(`qemu: machines boot Linux ${version}`);
  } catch (error) {
    throw new SetupError(`no kernel for virtual machines: ${(error as Error).message}`, { cause: error });
  }
}

async function tryRungs(name: BackendName, { ladder, signal, say }: SetupOptions): Promise<Isolation[]> {
  const working: Isolation[] = [];
  for (const backend of ladder.rungs.filter((rung) => rung.name === name)) {
    showLine(`trying ${backend.rung}`);
    const { probe, tookMs } = await ladder.ask(backend, { signal, isFresh: true });
    clearProgress();
    const secs = (tookMs / 1000).toFixed(1);
    say(`${backend.rung}: ${probe.ok ? `works, ${probe.isolation}` : `does not work: ${probe.reason}`} (${secs} s)`);
    if (probe.ok) working.push(probe.isolation);
  }
  return working;
}

function showLine(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${line}\x1b[K`);
}
