/**
 * The command line of the MCP Inspector, which wants a newer Node than ours: both are installed on first use.
 *
 * They are kept out of package.json: a quarter of a gigabyte that only one test needs.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const INSPECTOR = { name: '@modelcontextprotocol/inspector', version: '2.12.0' };
const NODE = { name: `node-${process.platform}-${process.arch}`, version: '22.23.3' };
const PLACE = fileURLToPath(
  new URL(`../../../node_modules/.cache/workcell-inspector-${INSPECTOR.version}`, import.meta.url),
);
const INSTALL = ['install', '--ignore-scripts', '--omit=optional', '--no-audit', '--no-fund', '--fetch-retries=1'];
const INSTALL_MS = 300_000;
const RUN_MS = 60_000;

export interface Inspection {
  /** The result that it printed. */
  result: Record<string, unknown>;
  /** Its error output. */
  remarks: string;
}

/** Why no inspector is available; undefined when one is. */
export function whyNoInspector(): string | undefined {
  if (process.platform !== 'linux') return `no ${NODE.name} for the MCP Inspector`;
  if (existsSync(PLACE)) return undefined;

  mkdirSync(dirname(PLACE), { recursive: true });
  const building = mkdtempSync(`${PLACE}-`);
  try {
    const dependencies = Object.fromEntries([INSPECTOR, NODE].map(({ name, version }) => [name, version]));
    writeFileSync(join(building, 'package.json'), JSON.stringify({ private: true, dependencies }));
    const { status, stderr } = spawnSync('npm', INSTALL, { cwd: building, timeout: INSTALL_MS, encoding: 'utf8' });
    if (status !== 0) return `the MCP Inspector could not be installed: ${stderr.trim().split('\n').at(-1)}`;
    if (!existsSync(PLACE)) renameSync(building, PLACE);
    return undefined;
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

/** One run of it: `target` is a command with its arguments, or a URL. */
export function inspect(target: readonly string[], ...options: string[]): Inspection {
  const node = join(PLACE, 'node_modules', NODE.name, 'bin/node');
  const program = join(PLACE, 'node_modules', INSPECTOR.name, 'clients/launcher/build/index.js');
  const { status, stdout, stderr } = spawnSync(node, [program, '--cli', ...target, ...options], {
    timeout: RUN_MS,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    env: { PATH: process.env.PATH, HOME: PLACE },
  });
  if (status !== 0) throw new Error(`the inspector ended with ${status}\n${stdout}\n${stderr}`);
  return { result: JSON.parse(stdout) as Inspection['result'], remarks: stderr };
}
