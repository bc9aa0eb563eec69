/** The backends of sandboxes, by the backend.json in their folders: there before anything is installed or built. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../src/workers/sandbox/backends/', import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, FOLDER), 'utf8'));

export const backends = readdirSync(FOLDER)
  .map((name) => `${name}/backend.json`)
  .filter((path) => existsSync(new URL(path, FOLDER)))
  .map(read);

/** Requirements of every backend. */
export const commonNeeds = read('needs.json');

/** Whose tests run, and say why they are skipped, where no backend works. */
export const defaultBackend = backends.find(({ isTestDefault }) => isTestDefault).name;
