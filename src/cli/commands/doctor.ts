/** workcell doctor: what this host offers and lacks, each line with its fix. */
import { connect as connectTcp } from 'node:net';

import { Children, openJail, type Containment } from '#host';
import type { Command } from '../command.ts';
import { addressOptions, engineUrl } from '../engine-address.ts';
import { EXIT } from '../exit-codes.ts';
import { table } from '../render.ts';

interface Finding {
  check: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  /** What to do about it; empty when nothing. */
  fix: string;
}

const NODE_FLOOR = { major: 20, minor: 19 };

export const doctor: Command = {
  name: 'doctor',
  summary: 'Check what this host offers: Node, the path jail, what holds jobs together, the engine’s port.',
  options: { json: { type: 'boolean', description: 'Print the findings as JSON.' }, ...addressOptions },
  maxWords: 0,

  async run({ options }) {
    const findings = [checkNode(), checkJail(), await checkJobs(), await checkEngine(engineUrl(options))];
    if (options.json === true) process.stdout.write(`${JSON.stringify(findings, null, 2)}\n`);
    else {
      const rows = findings.map(({ status, check, detail, fix }) => [status, check, detail, fix]);
      process.stdout.write(table(['STATUS', 'CHECK', 'FOUND', 'FIX'], rows));
    }
    return findings.some(({ status }) => status === 'fail') ? EXIT.failed : EXIT.ok;
  },
};

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > NODE_FLOOR.major || (major === NODE_FLOOR.major && minor >= NODE_FLOOR.minor);
  const floor = `${NODE_FLOOR.major}.${NODE_FLOOR.minor}`;
  return {
    check: 'node',
    status: isEnough ? 'ok' : 'fail',
    detail: process.versions.node,
    fix: isEnough ? '' : `install Node ${floor} or newer`,
  };
}

function checkJail(): Finding {
  const jail = openJail(process.cwd());
  const isStrong = jail.mode === 'descriptor';
  return {
    check: 'path jail',
    status: isStrong ? 'ok' : 'warn',
    detail: isStrong
      ? 'check and use are one open file'
      : 'path is checked before and after use: a race is detected, not prevented',
    fix: isStrong ? '' : 'run on Linux with /proc mounted for the race-free jail',
  };
}

const HOLDS: Record<Containment, string> = {
  cgroup2: 'a control group (v2) for each job: nothing outlives it',
  cgroup1: 'a control group (v1) for each job: nothing outlives it',
  'pid-namespace': 'a process namespace for each job: nothing outlives it',
  session: 'a session for each job: a process that leaves it on purpose may outlive the job',
};

async function checkJobs(): Promise<Finding> {
  const children = await Children.open();
  await children.close();
  const isWeak = children.containment === 'session';
  return {
    check: 'jobs',
    status: isWeak ? 'warn' : 'ok',
    detail: HOLDS[children.containment],
    fix: isWeak ? 'run on Linux where control groups are writable or process namespaces allowed' : '',
  };
}

function checkEngine(url: string): Promise<Finding> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const finish = (detail: string, fix: string) => {
      socket.destroy();
      resolve({ check: 'engine', status: 'ok', detail, fix });
    };
    const socket = connectTcp({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80), timeout: 1_000 });
    socket.once('connect', () => finish(`something answers at ${url}`, ''));
    socket.once('error', () => finish(`nothing listens at ${url}`, 'workcell start'));
    socket.once('timeout', () => finish(`no answer from ${url}`, 'check the address'));
  });
}
