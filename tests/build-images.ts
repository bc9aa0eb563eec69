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
const shared = globalThis as { workcellImages?: Promise<void> };

export default function buildImages(): () => Promise<void> {
  const building = (shared.workcellImages ??= build());
  return () => building;
}

async function build(): Promise<void> {
  const whyNot = await whyNoSandbox(IMAGES);
  if (whyNot === undefined || IMAGES.some((name) => missingToBuild(name).length > 0)) return;
  if ((await whyNoSandbox([])) !== undefined) return;
  console.error(`The sandbox cases were skipped, because an image could not be built: ${whyNot}`);
  process.exitCode = 1;
}
