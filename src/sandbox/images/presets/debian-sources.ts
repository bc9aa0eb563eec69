/**
 * The Debian mirrors of this machine: those its own apt uses.
 *
 * Only the Debian archive itself; other repositories of the host do not belong in an image.
 */
import { runProgram } from './program.ts';

export interface DebianSources {
  readonly suite: string;
  /** Lines of a sources.list; empty means mmdebstrap's default mirror. */
  readonly lines: readonly string[];
}

/** Suite for a host that is not Debian. */
const DEFAULT_SUITE = 'bookworm';

const FORMAT = '$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)';

export async function debianSources(signal: AbortSignal): Promise<DebianSources> {
  const listing = await runProgram(['apt-get', 'indextargets', '--format', FORMAT, 'Created-By: Packages'], {
    signal,
    timeoutMs: 30_000,
    hint: 'presets are built with apt, which this system does not have',
  });
  return chooseSources(listing);
}

export function chooseSources(listing: string): DebianSources {
  const targets = listing
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([origin, , component, uri = '']) => origin === 'Debian' && component === 'main' && /^https?:/.test(uri))
    .map(([, codename = '', , uri = '']) => ({ codename, uri }));
  const suite = targets.find(({ codename }) => /^[a-z]+$/.test(codename))?.codename;
  if (suite === undefined) return { suite: DEFAULT_SUITE, lines: [] };

  const wanted = [suite, `${suite}-updates`, `${suite}-security`];
  const lines = targets
    .filter(({ codename }) => wanted.includes(codename))
    .map(({ codename, uri }) => `deb ${uri} ${codename} main`);
  return { suite, lines: [...new Set(lines)] };
}
