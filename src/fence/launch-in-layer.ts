/** Runs commands in the layer of a change; the rest of the host stays visible to them. */
import type { Launch, MountedLayer } from '#host';
import { buildPrograms } from './build-launcher.ts';
import { VARIABLE_PREFIX } from './fence.ts';

export async function launchInLayer({ mount, namespaces }: MountedLayer): Promise<Launch> {
  const { launcher } = await buildPrograms();
  const bare = mount === 'overlay-user' ? 'user' : 'root';
  return ({ argv, cwd, env, terminalPath, isContained }) => ({
    argv: [
      ...[launcher, 'enter', '--bare', bare, '--contained', isContained ? 'yes' : 'no', '--cwd', cwd],
      ...(terminalPath === undefined ? [] : ['--terminal', terminalPath]),
      ...['--', ...argv],
    ],
    cwd: '/',
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [VARIABLE_PREFIX + name, value])),
    descriptors: namespaces,
  });
}
