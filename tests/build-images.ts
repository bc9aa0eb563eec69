/**
 * Builds the images of the sandbox cases once, beside the first tests, which need none.
 *
 * A file that needs one before it is there waits for it. Cases without an image are skipped, so a run that could have built
 * one and did not fails here.
 */
import { whyNoSandbox } from '#testing';
import { missingToBuild } from '../src/sandbox/images/presets/build-needs.ts';

const IMAGES = ['python', 'node'] as const;

/** Each project of a backend sets up, with modules of its own. */
const shared = globalThis as { workcellImages?: Promise<string | undefined> };

export default function buildImages(): () => Promise<void> {
  shared.workcellImages ??= whyNotBuilt();
  return async () => {
    const building = shared.workcellImages;
    // Reported once, after the tests: the end of a log is read, and an error thrown here fails no run.
    delete shared.workcellImages;
    const whyNot = await building;
    if (whyNot === undefined) return;
    console.error(`The sandbox cases were skipped, because an image could not be built: ${whyNot}`);
    process.exitCode = 1;
  };
}

/** Undefined also where nothing can build them. */
async function whyNotBuilt(): Promise<string | undefined> {
  const whyNot = await whyNoSandbox(IMAGES);
  if (whyNot === undefined || IMAGES.some((name) => missingToBuild(name).length > 0)) return undefined;
  return (await whyNoSandbox([])) === undefined ? whyNot : undefined;
}
