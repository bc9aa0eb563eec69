/** Lists the programs and settings that this host lacks to build a preset, without building it. */
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { ownAccount } from '#host';
import type { PresetName } from '../catalogue.ts';
import { PRESET_RECIPES } from './recipes.ts';

export interface BuildHost {
  platform: NodeJS.Platform;
  isRoot: boolean;
  user: string;
  hasProgram: (name: string) => boolean;
  /** From /etc/subuid; undefined without an entry. */
  subuid: string | undefined;
}

/** Empty when nothing is missing. Only a build can show whether the package servers answer. */
export function missingToBuild(name: PresetName, host: BuildHost = thisHost()): string[] {
  if (host.platform !== 'linux') return ['Linux'];
  const programs = ['mmdebstrap', ...(PRESET_RECIPES[name].npmPackages.length > 0 ? ['npm'] : [])];
  const missing = programs.filter((program) => !host.hasProgram(program));
  if (host.isRoot) return missing;

  if (!host.hasProgram('newuidmap')) missing.push('uidmap');
  const hasRange = host.subuid?.split('\n').some((line) => line.startsWith(`${host.user}:`)) ?? false;
  if (!hasRange) missing.push(`a line for ${host.user} in /etc/subuid and /etc/subgid`);
  return missing;
}

function thisHost(): BuildHost {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return {
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    user: ownAccount().name,
    hasProgram: (name) => folders.some((folder) => existsSync(join(folder, name))),
    subuid: existsSync('/etc/subuid') ? readFileSync('/etc/subuid', 'utf8') : undefined,
  };
}
