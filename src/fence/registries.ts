/**
 * Package registries that commands in the fence may reach.
 *
 * Beside the public ones: those that the user of the server has set up for npm, pip, uv and Go. Files of the workspace
 * are not read, because agents write them. Addresses are passed on without their passwords, so a registry that asks for
 * one refuses.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';

/** Hosts of the shipped list: registries, their indexes and downloads, and headers that native modules are built with. */
export const PUBLIC_REGISTRIES: readonly string[] = [
  ...['registry.npmjs.org', 'registry.yarnpkg.com', 'npm.jsr.io', 'jsr.io', 'nodejs.org'],
  ...['pypi.org', 'files.pythonhosted.org'],
  ...['crates.io', 'index.crates.io', 'static.crates.io', 'static.rust-lang.org'],
  ...['proxy.golang.org', 'sum.golang.org'],
  ...['rubygems.org', 'index.rubygems.org'],
  ...['repo.maven.apache.org', 'repo1.maven.org', 'plugins.gradle.org', 'services.gradle.org'],
  ...['packagist.org', 'repo.packagist.org', 'api.nuget.org'],
];

export interface HostRegistries {
  /** `name:port`, which may be of a private network: the user chose them. */
  readonly hosts: readonly string[];
  /** Variables that point programs inside to them, because their settings in home are hidden. */
  readonly env: Readonly<Record<string, string>>;
}

interface Source {
  readonly variable: string;
  readonly names: readonly string[];
  readonly files: readonly string[];
  readonly pattern: RegExp;
}

const SOURCES: readonly Source[] = [
  {
    variable: 'npm_config_registry',
    names: ['npm_config_registry', 'NPM_CONFIG_REGISTRY'],
    files: ['~/.npmrc', '/etc/npmrc', '/usr/etc/npmrc', '/usr/local/etc/npmrc'],
    pattern: /^(?:@[^:\s]+:)?registry\s*=\s*(\S+)/gm,
  },
  {
    variable: 'PIP_INDEX_URL',
    names: ['PIP_INDEX_URL'],
    files: ['~/.config/pip/pip.conf', '~/.pip/pip.conf', '/etc/pip.conf'],
    pattern: /^(?:extra-)?index-url\s*=\s*(\S+)/gm,
  },
  { variable: 'UV_DEFAULT_INDEX', names: ['UV_DEFAULT_INDEX', 'UV_INDEX_URL'], files: [], pattern: /$^/g },
  { variable: 'GOPROXY', names: ['GOPROXY'], files: [], pattern: /$^/g },
];

export function hostRegistries(env: NodeJS.ProcessEnv = process.env, home = homedir()): HostRegistries {
  const hosts = new Set<string>();
  const variables: Record<string, string> = {};
  for (const { variable, names, files, pattern } of SOURCES) {
    const set = names.flatMap((name) => env[name]?.split(/[,|]/) ?? []);
    const written = files.flatMap((file) => [...textOf(file.replace(/^~/, home)).matchAll(pattern)]);
    const urls = [...set, ...written.map(([, url]) => url!)].flatMap(withoutPassword);
    for (const { hostname, port, protocol } of urls)
      hosts.add(`${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`);
    // Scopes of npm and extra indexes of pip are only reachable: files of the project name them.
    const [main] = [...set, ...written.filter(([line]) => !/^[@e]/.test(line)).map(([, url]) => url!)].flatMap(
      withoutPassword,
    );
    if (main) variables[variable] = main.href;
  }
  return { hosts: [...hosts], env: variables };
}

function withoutPassword(text: string): URL[] {
  const url = URL.parse?.(text) ?? (URL.canParse(text) ? new URL(text) : undefined);
  if (!url || !/^https?:$/.test(url.protocol)) return [];
  url.username = '';
  url.password = '';
  return [url];
}

/** Empty if the file is missing. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
