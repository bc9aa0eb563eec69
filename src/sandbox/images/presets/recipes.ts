/**
 * Contents of the presets when they are built here. A change takes effect when an image is made next, as with a tag of
 * a registry: `workcell sandbox pull`.
 */
import type { PresetName } from '../catalogue.ts';

export interface PresetRecipe {
  readonly debianPackages: readonly string[];
  /**
   * Script that mmdebstrap runs in the new root; repeats installation steps of packages, which are only unpacked.
   */
  readonly hook: string;
  /** Unpacked over the Debian packages. */
  readonly npmPackages: readonly NpmPackage[];
  readonly env: readonly string[];
}

export interface NpmPackage {
  /** Package name with its version. */
  readonly spec: string;
  /** Path in the package, and its target; the first match wins, other files are skipped. */
  readonly copies: readonly (readonly [from: string, to: string])[];
  readonly links: Readonly<Record<string, string>>;
}

const BASE_PACKAGES = [
  'base-files',
  'base-passwd',
  'bash',
  'ca-certificates',
  'coreutils',
  'curl',
  'dash',
  'debianutils',
  'diffutils',
  'findutils',
  'git',
  'grep',
  'gzip',
  'hostname',
  'libc-bin',
  // Libraries that binary packages of pip and npm are linked with and do not contain.
  'libgomp1',
  'libstdc++6',
  'mawk',
  'netbase',
  'procps',
  'sed',
  'tar',
  'tzdata',
  'util-linux',
];

const BASE_ENV = ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'LANG=C.UTF-8'];

/** Runs in the root before any package is unpacked: makes /bin, /lib and /sbin symlinks to /usr, as on every Debian. */
export const MERGE_USR = 'for dir in bin lib lib64 sbin; do mkdir -p "$1/usr/$dir" && ln -s "usr/$dir" "$1/$dir"; done';

// Folders that base-files creates when it is installed.
const MAKE_FOLDERS =
  'cd "$1" && mkdir -p mnt media opt srv usr/local/bin usr/local/lib usr/local/sbin usr/local/share usr/local/src';

// Compiles once here; otherwise every sandbox would compile its imports again, because each starts from the same files.
const COMPILE_PYTHON =
  'chroot "$1" sh -c "PYTHONHASHSEED=0 /usr/bin/python3 -m compileall -q --invalidation-mode unchecked-hash /usr/lib/python3*"';

const NODE_ARCH = process.arch === 'arm64' ? 'arm64' : 'x64';

export const PRESET_RECIPES: Readonly<Record<PresetName, PresetRecipe>> = {
  python: {
    debianPackages: [...BASE_PACKAGES, 'python-is-python3', 'python3', 'python3-pip', 'python3-venv'],
    hook: `${MAKE_FOLDERS} && ${COMPILE_PYTHON}`,
    npmPackages: [],
    env: BASE_ENV,
  },
  node: {
    debianPackages: [...BASE_PACKAGES, 'libatomic1'],
    hook: MAKE_FOLDERS,
    npmPackages: [
      { spec: `node-linux-${NODE_ARCH}@22.23.3`, copies: [['bin/node', 'usr/local/bin/node']], links: {} },
      {
        spec: 'npm@10.9.9',
        copies: [['', 'usr/local/lib/node_modules/npm']],
        links: {
          'usr/local/bin/npm': '../lib/node_modules/npm/bin/npm-cli.js',
          'usr/local/bin/npx': '../lib/node_modules/npm/bin/npx-cli.js',
        },
      },
    ],
    env: BASE_ENV,
  },
};
