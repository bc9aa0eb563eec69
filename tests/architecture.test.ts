/**
 * Checks imports between areas, and where files have to be.
 *
 * The table is the architecture: when a check is red because the structure is meant to change, change the
 * table, and say why in the commit.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

interface Area {
  /** Other areas, as an import names them after its `#`. */
  areas: readonly string[];
  packages: readonly string[];
}

const ANY = ['*'];
const TEST_PACKAGES = ['vitest', 'fast-check'];

/** Ordered: the first matching row is the area's own. */
const TABLE: Record<string, Area> = {
  protocol: { areas: [], packages: ['zod'] },
  contract: { areas: ['protocol'], packages: ['zod'] },
  host: { areas: ['protocol', 'contract'], packages: ['rregex', 'koffi'] },
  'file-functions': { areas: ['protocol', 'contract', 'host'], packages: ['zod'] },
  'job-functions': { areas: ['protocol', 'contract', 'host'], packages: ['zod'] },
  client: { areas: ['protocol', 'contract'], packages: ['ws', 'zod'] },
  engine: { areas: ['protocol', 'contract'], packages: ['ws', 'zod'] },
  // Loaded only with --cluster: nothing else imports it at start.
  cluster: { areas: ['protocol', 'contract', 'engine'], packages: ['@nats-io/transport-node', 'zod'] },
  // Loaded only with OTEL_EXPORTER_OTLP_ENDPOINT.
  otlp: {
    areas: ['contract'],
    packages: [
      ...['api', 'resources', 'sdk-trace-base', 'sdk-metrics'].map((name) => `@opentelemetry/${name}`),
      ...['otlp-exporter-base', 'exporter-trace-otlp-http', 'exporter-metrics-otlp-http'].map(
        (name) => `@opentelemetry/${name}`,
      ),
    ],
  },
  'sandbox/archives': { areas: ['host'], packages: ['fzstd'] },
  'sandbox/images': { areas: ['contract', 'host', 'sandbox/archives'], packages: ['zod'] },
  'sandbox/guest': { areas: ['contract', 'host'], packages: [] },
  egress: { areas: ['contract'], packages: ['zod'] },
  access: { areas: ['contract', 'host'], packages: ['zod'] },
  fence: { areas: ['contract', 'host', 'egress', 'sandbox/guest', 'sandbox/images'], packages: [] },
  'workers/sandbox': {
    areas: ['protocol', 'contract', 'host', 'file-functions', 'job-functions', 'egress', 'sandbox/*'],
    packages: ['zod'],
  },
  'workers/agent': {
    areas: ['protocol', 'contract', 'host', 'file-functions'],
    packages: ['zod', '@vscode/tree-sitter-wasm'],
  },
  'workers/change': { areas: ['protocol', 'contract', 'host', 'fence'], packages: ['zod'] },
  'workers/filesystem': { areas: ['protocol', 'contract', 'host', 'file-functions'], packages: ['zod', 'iconv-lite'] },
  'workers/shell': {
    areas: ['protocol', 'contract', 'host', 'file-functions', 'job-functions', 'egress', 'fence'],
    packages: ['zod'],
  },
  'workers/*': { areas: ['protocol', 'contract', 'host', 'file-functions', 'job-functions'], packages: ['zod'] },
  'surfaces/http': {
    areas: ['protocol', 'contract', 'client', 'surfaces/console', 'surfaces/reference'],
    packages: ['hono', '@hono/node-server', 'zod'],
  },
  'surfaces/mcp': { areas: ['protocol', 'contract'], packages: ['@modelcontextprotocol/server'] },
  'surfaces/*': { areas: ['protocol', 'contract', 'client'], packages: [] },
  version: { areas: [], packages: [] },
  assembly: {
    areas: [
      ...['contract', 'protocol', 'host', 'access', 'client', 'engine', 'workers/*'],
      ...['surfaces/http', 'surfaces/mcp', 'otlp', 'version'],
    ],
    packages: ['yaml', 'zod'],
  },
  cli: {
    areas: [
      ...['protocol', 'contract', 'host', 'file-functions', 'client', 'engine', 'workers/*', 'surfaces/*'],
      ...['assembly', 'assembly/options', 'access', 'cluster', 'version'],
    ],
    packages: ['yaml', 'zod'],
  },
  library: { areas: ['contract', 'client', 'engine', 'workers/*', 'assembly'], packages: ['zod'] },
  // Of the library only its types.
  'ai-sdk': { areas: ['contract', 'library', 'surfaces/mcp'], packages: ['ai'] },
  testing: { areas: ANY, packages: ANY },
};

/** Folders of the console, and which others they import. Ordered: a row names only rows above it. */
const CONSOLE_TABLE: Record<string, readonly string[]> = {
  // The files beside the folders, but for the two that put the pages together.
  base: [],
  style: [],
  changes: [],
  jobs: ['base'],
  live: ['base', 'changes', 'jobs'],
  parts: ['base', 'changes', 'jobs', 'live'],
  form: ['base', 'parts'],
  terminal: ['jobs'],
  nodes: ['base', 'live', 'parts'],
  pages: ['base', 'changes', 'jobs', 'live', 'parts', 'form', 'terminal', 'nodes'],
  entry: ['base', 'live', 'parts', 'nodes', 'pages', 'style'],
};

/** More than that is two folders. */
const MOST_FILES = 25;

const WORKER_FILES = ['README.md', 'config.ts', 'errors.ts', 'worker.ts', 'index.ts'];

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = filesUnder('src').filter((file) => file.endsWith('.ts'));
const imports = importsIn(sources);
const consoleImports = importsIn(filesUnder('console/src').filter((file) => /\.tsx?$/.test(file) && !isTest(file)));

test('every source file belongs to an area of the table', () => {
  expect(sources.filter((file) => rowOf(file) === undefined)).toEqual([]);
});

test('repo.P3 an area imports only the areas in its row', () => {
  const strays = imports.filter(({ file, target }) => {
    if (!target.startsWith('#') || /^#testing\b/.test(target)) return false;
    return !fits(rowOf(file)?.areas ?? [], target.slice(1));
  });
  expect(strays.map(spelled)).toEqual([]);
});

test('a relative import stays in its area', () => {
  const strays = imports.filter(({ file, target }) => {
    if (!target.startsWith('.')) return false;
    return areaOf(posix.join(posix.dirname(file), target)) !== areaOf(file);
  });
  expect(strays.map(spelled)).toEqual([]);
});

test('`workcell mcp` loads neither workers nor #host before its client has the list of tools', () => {
  const loaded = loadedBy('src/cli/commands/mcp.ts');
  expect(loaded).toContain('src/assembly/options/workspace.ts');
  const early = /^src\/(?:assembly\/options|cli|contract|protocol|surfaces\/mcp|version)\//;
  expect(loaded.filter((file) => !early.test(file))).toEqual([]);
});

test('an area imports only the npm packages in its row', () => {
  const strays = imports.filter(({ file, target }) => {
    if (/^(#|\.|node:)/.test(target)) return false;
    const allowed = rowOf(file)?.packages ?? [];
    return !fits(isTest(file) ? [...allowed, ...TEST_PACKAGES] : allowed, packageOf(target));
  });
  expect(strays.map(spelled)).toEqual([]);
});

test('the console imports nothing of the server but the wire', () => {
  const strays = consoleImports.filter(({ target }) => /^#|(\.\.\/)+src\/(?!protocol\/)/.test(target));
  expect(strays.map(spelled)).toEqual([]);
});

test('a folder of the console imports only the folders in its row', () => {
  const strays = consoleImports.filter(({ file, target }) => {
    const to = posix.join(posix.dirname(file), target);
    if (!target.startsWith('.') || !to.startsWith('console/src/')) return false;
    const from = consoleFolderOf(file);
    return from !== consoleFolderOf(to) && !CONSOLE_TABLE[from]?.includes(consoleFolderOf(to));
  });
  expect(strays.map(spelled)).toEqual([]);
  const names = Object.keys(CONSOLE_TABLE);
  const upward = names.filter((name, row) => CONSOLE_TABLE[name]!.some((other) => names.indexOf(other) >= row));
  expect(upward).toEqual([]);
});

test('the console shows changes as they are reported, without knowing functions', () => {
  const showing = ['parts/changed-file.tsx', 'parts/diff-view.tsx', 'pages/change-card.tsx'];
  const files = [...filesUnder('console/src/changes'), ...showing.map((file) => `console/src/${file}`)];
  const knowing = files.filter((file) => /\w::\w/.test(read(file)));
  expect(knowing).toEqual([]);
});

test('a folder holds no more files than a reader takes in, beside its tests', () => {
  const counts = new Map<string, number>();
  for (const file of ['src', 'console/src'].flatMap(filesUnder).filter((one) => !isTest(one))) {
    counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1);
  }
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});

test('a folder of tests, scripts, benchmarks or pages holds no more files than a reader takes in', () => {
  const counts = new Map<string, number>();
  for (const file of ['tests', 'scripts', 'bench', 'docs'].flatMap(filesUnder)) {
    counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1);
  }
  // A log by date: it is read from its end, and a page stays where links expect it.
  counts.delete('docs/decisions');
  expect([...counts].filter(([, count]) => count > MOST_FILES)).toEqual([]);
});

test('only tests import #testing', () => {
  const others = ['scripts', 'bench', 'examples'].flatMap(filesUnder).filter((file) => /\.m?ts$|\.m?js$/.test(file));
  const strays = [...sources, ...others].filter(
    (file) => !isTest(file) && importsOf(file).some((target) => /^#testing\b/.test(target)),
  );
  expect(strays).toEqual([]);
});

test('repo.P3 a function file holds one id, and the id is its path', () => {
  const strays = sources.flatMap((file) => {
    const path = /^src\/(?:engine|workers\/[^/]+)\/functions\/(.+)\.ts$/.exec(file)?.[1];
    if (path === undefined || path === 'index' || isTest(file)) return [];

    const ids = functionIdsIn(file);
    return ids.length === 1 && pathOfId(ids[0] ?? '') === path ? [] : [`${file} holds ${ids.join(', ') || 'no id'}`];
  });
  expect(strays).toEqual([]);
});

test('every worker has its readme, config, errors, definition and door', () => {
  const areas = new Set(filesUnder('src/workers').map(areaOf));
  const missing = [...areas].flatMap((area) => WORKER_FILES.map((name) => `src/${area}/${name}`));
  expect(missing.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('bounds of time and memory are asserted where a file runs alone', () => {
  const measured =
    /performance\.now|Date\.now\(\) - |abs\([^;]*[nN]ow\b|memoryUsage|[rR]ss\b|heapUsed|arrayBuffers|(memory|disk)Bytes|takenMb|longest|duration_ms|\w\w(?<![cm]time)Ms\b/;
  const within = /(?:(?!;\n|expect\()[^])*/.source;
  const expected = `expect(?:\\s*\\.poll)?\\(${within}`;
  const bound = new RegExp(
    `${expected}(${measured.source})${within}toBeLess|${expected}\\w\\w(?<![cm]time)Ms\\b${within}toBeGreater\\w+\\((?!0\\))`,
  );
  const files = ['src', 'tests', 'console/src'].flatMap(filesUnder).filter((file) => file.endsWith('.ts'));
  const strays = files.filter((file) => !file.endsWith('.budget.test.ts') && bound.test(read(file)));
  // What a sandbox refuses its programs is the promise itself, on a busy machine too.
  const promised = ['tests/security/sandbox/sandbox-memory.test.ts'];
  expect(strays).toEqual(promised);
});

test('no test waits less than the 30 seconds of expect.poll for what has to happen', () => {
  const ways = [
    // The argument of a tool is not a wait of the test.
    /(?<!\bcommand: [^}]*)\btimeout: /,
    /\b(?:PATIENCE|DEADLINE|START|BOOT|RUN|AFTERMATH)_MS = /,
    /\bset\w+Timeout\(/,
    // Below a second, the timeout is the expected outcome; a multiple is one of the slowness of a backend.
    /\b(?:wait_ms|timeout_ms|timeoutMs): (?=(?:\d_?){4,}\b(?! \*))/,
    /\{ signal: AbortSignal\.timeout\(/,
    /\bwithin\((?:[^;]*, )(?=[\d_]+\)[;)])/,
    // The timeout of a test, as its last argument.
    /^\}, (?=\d{1,2}_?000\);$)/,
  ];
  // vi has a waitFor of its own, which waits one second.
  const waits = new RegExp(
    `vi\\.wait(?:For|Until)\\b|(?:${ways.map(({ source }) => source).join('|')})([\\d_]+)`,
    'gm',
  );
  const files = ['src', 'tests', 'console/src'].flatMap(filesUnder).filter((file) => /\.(tsx?|mjs)$/.test(file));
  const strays = files.flatMap((file) => {
    if (file.endsWith('.budget.test.ts') || (file.startsWith('src/') && !isTest(file))) return [];
    const found = Array.from(read(file).matchAll(waits), ([text, ms = '0']) => ({
      text,
      ms: Number(ms.replaceAll('_', '')),
    }));
    return found.filter(({ ms }) => ms < 30_000).map(({ text }) => `${file}: ${text}`);
  });
  expect(strays).toEqual([]);
});

test('only rounds() asks which tier of tests runs, and random cases take their count from it', () => {
  const files = ['src', 'tests'].flatMap(filesUnder).filter((file) => /\.m?ts$|\.m?js$/.test(file));
  const asking = files.filter((file) => /env\.WORKCELL_TEST_TIER/.test(read(file)));
  expect(asking).toEqual(['src/testing/rounds.ts']);
  expect(files.filter((file) => /numRuns: \d/.test(read(file)))).toEqual([]);
});

/** The folder under `src`, or the one below where an area is a family. */
function areaOf(file: string): string {
  const [, first = '', second = ''] = file.split('/');
  return ['workers', 'surfaces', 'sandbox'].includes(first) ? `${first}/${second}` : first;
}

function rowOf(file: string): Area | undefined {
  const area = areaOf(file);
  return Object.entries(TABLE).find(([name]) => fits([name], area))?.[1];
}

/** Whether a name is in the list, where `*` stands for one segment or, alone, for anything. */
function fits(list: readonly string[], name: string): boolean {
  return list.some((entry) => entry === '*' || entry === name || entry === `${posix.dirname(name)}/*`);
}

function isTest(file: string): boolean {
  return /\.(test|contract)\.ts$/.test(file) || file.startsWith('src/testing/');
}

/** The imports of a file, of values or types, static or not. Comments are skipped. */
function importsOf(file: string): string[] {
  const code = read(file).replaceAll(/^\s*(\*|\/\/|\/\*).*$/gm, '');
  const declared = /^(?:import|export)\s[^'"`;()=]*?\bfrom\s*['"]([^'"]+)['"]/gm;
  const bare = /^import\s*['"]([^'"]+)['"]/gm;
  const inline = /\b(?:import|require)\(\s*['"]([^'"]+)['"]/g;
  return [declared, bare, inline].flatMap((pattern) => [...code.matchAll(pattern)].map((match) => match[1] ?? ''));
}

/** The file and all modules that are loaded with it, without imports of types and `import()`. */
function loadedBy(file: string): string[] {
  const imported = /^(?:import|export)\s(?!type\b)(?:[^'"`;()=]*?\bfrom\s*)?['"]([#.][^'"]+)['"]/gm;
  const loaded = new Set([file]);
  for (const from of loaded) {
    const code = read(from).replaceAll(/^\s*(\*|\/\/|\/\*).*$/gm, '');
    for (const [, target = ''] of code.matchAll(imported)) {
      loaded.add(target.startsWith('#') ? `src/${target.slice(1)}/index.ts` : posix.join(posix.dirname(from), target));
    }
  }
  return [...loaded];
}

function importsIn(files: readonly string[]): { file: string; target: string }[] {
  return files.flatMap((file) => importsOf(file).map((target) => ({ file, target })));
}

function consoleFolderOf(file: string): string {
  const [folder = '', inside] = file.slice('console/src/'.length).split('/');
  if (inside !== undefined) return folder;
  return /^(app|main)\.tsx$/.test(folder) ? 'entry' : 'base';
}

/** The ids a file defines; an example may send an `id` of something else. */
function functionIdsIn(file: string): string[] {
  const definitions = read(file).replaceAll(/\bexamples: \[[\s\S]*?\],?$/gm, '');
  return [...definitions.matchAll(/\bid: '([^']+)'/g)].map((match) => match[1] ?? '');
}

function pathOfId(id: string): string {
  return id.split('::').slice(1).join('/').replaceAll('_', '-');
}

function packageOf(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

function spelled({ file, target }: { file: string; target: string }): string {
  return `${file} imports ${target}`;
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** Paths from the root, with forward slashes. A folder that does not exist has no files. */
function filesUnder(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length).split(sep).join('/'));
}
