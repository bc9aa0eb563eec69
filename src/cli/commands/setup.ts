/**
 * workcell setup: installs the packages of an isolation rung, starts a machine on it, and fetches the allowed images.
 */
import { didYouMean, silentLog } from '#contract';
import { BACKENDS, defaultCacheDir, openLadder, worthHaving, type BackendDef, type Isolation } from '#workers/sandbox';
import { UsageError, valueOption, type Command } from '../command.ts';
import { text } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { sandboxConfig } from '../sandbox/image-cache.ts';
import { clearLine } from '../live-line.ts';
import { interruptible } from '../interruptible.ts';
import { printFailure } from '../print.ts';
import { makeImagesReady } from '../setup/make-images-ready.ts';
import { setUpBackend, type SetupOptions } from '../setup/set-up-backend.ts';
import { SetupError } from '../setup/setup-error.ts';

const NAMES = BACKENDS.map(({ name }) => name);

/** The default stops at the first of these: no later rung is stronger. */
const GOOD: readonly Isolation[] = ['hardware-vm', 'userspace-kernel'];

export const setup: Command = {
  name: 'setup',
  summary: 'Install the packages that sandboxes need on this host, and start a test sandbox.',
  usage: `[${NAMES.join('|')} ...]`,
  details:
    'Without a name it sets up the strongest isolation that this host could have. Packages are installed with apt as root;\n' +
    'otherwise the command to run is printed, and the exit code is 1. The images of image_allowlist are fetched or built.\n' +
    'Installed programs are left alone.',
  options: {
    'dry-run': { type: 'boolean', description: 'Only print the steps.' },
    config: valueOption('FILE', 'Configuration file, as for start.', { short: 'c' }),
  },
  examples: ['workcell setup', 'workcell setup gvisor', 'workcell setup qemu --dry-run'],

  run({ words, options }) {
    const named = words.map(backendOf);
    const config = sandboxConfig(text(options.config));
    return interruptible(async (signal) => {
      const ladder = openLadder(config, silentLog);
      const setting: SetupOptions = {
        ladder,
        cacheDir: config.cache_dir ?? defaultCacheDir(),
        isDryRun: options['dry-run'] === true,
        signal,
        say: (line) => process.stdout.write(`${line}\n`),
      };
      try {
        const isDone = named.length > 0 ? await setUpAll(named, setting) : await setUpBest(setting);
        const isReady = (isDone || setting.isDryRun) && (await makeImagesReady(config, setting));
        return isReady ? EXIT.ok : EXIT.failed;
      } catch (error) {
        if (!(error instanceof SetupError) || signal.aborted) throw error;
        clearLine();
        printFailure(error);
        return EXIT.failed;
      } finally {
        await ladder.close();
      }
    });
  },
};

/** `qemu+kvm`, as the doctor calls it, is set up by the backend `qemu`. */
function backendOf(word: string): BackendDef {
  const found = BACKENDS.find(({ name }) => name === word.split('+')[0]);
  if (!found) throw new UsageError(`setup has no backend "${word}"${didYouMean(word, NAMES)}`);
  return found;
}

async function setUpAll(backends: readonly BackendDef[], setting: SetupOptions): Promise<boolean> {
  let isDone = true;
  for (const backend of new Set(backends)) {
    const working = await setUpBackend(backend, setting);
    isDone &&= (working ?? []).length > 0;
  }
  return isDone;
}

async function setUpBest(setting: SetupOptions): Promise<boolean> {
  let isDone = false;
  for (const backend of worthHaving()) {
    const working = (await setUpBackend(backend, setting)) ?? [];
    isDone ||= working.length > 0;
    if (working.some((isolation) => GOOD.includes(isolation))) break;
  }
  return isDone;
}
