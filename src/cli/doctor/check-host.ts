/**
 * Checks of the host that concern every worker: Node, the system, the path jail, attributes that edits keep, job
 * containment, fence, changes, search.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { arch, release, tmpdir } from 'node:os';
import { join } from 'node:path';

import { Children, openJail, type Containment, type JailOpening, type KeptAttributes } from '#host';
import { probeChanges } from '#workers/change';
import { probeFence } from '#workers/shell';
import { judged, type Finding } from './finding.ts';

const NODE_FLOOR = { major: 20, minor: 19 };

export function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isEnough = major > NODE_FLOOR.major || (major === NODE_FLOOR.major && minor >= NODE_FLOOR.minor);
  const fix = `install Node ${NODE_FLOOR.major}.${NODE_FLOOR.minor} or newer`;
  return judged(isEnough, { check: 'node', status: 'fail', detail: process.versions.node, fix });
}

export function checkPlatform(): Finding {
  const isWindows = process.platform === 'win32';
  const user = process.geteuid?.() === 0 ? 'root' : 'an ordinary user';
  const detail = `${process.platform} ${release()} ${arch()}, as ${user}`;
  return judged(!isWindows, {
    check: 'platform',
    detail,
    fix: 'run in WSL2, where everything that Linux offers works',
  });
}

const OPENS: Record<JailOpening, string> = {
  'at-once': 'opened directly if its path has no symlinks',
  'after-finding': 'opened after its path is resolved',
};

export function checkJail(): Finding {
  const jail = openJail(process.cwd());
  const isStrong = jail.mode === 'descriptor';
  const detail = isStrong
    ? `check and use are one open file, ${OPENS[jail.opening]}`
    : 'path is checked before and after use: a race is detected, not prevented';
  return judged(isStrong, {
    check: 'path jail',
    detail,
    fix: 'run on Linux with /proc mounted for the race-free jail',
  });
}

/** Reports which attributes of the workspace's files an edit keeps. */
export function checkEdits(kept: KeptAttributes | undefined): Finding {
  if (!kept) {
    const isLinux = process.platform === 'linux';
    return {
      check: 'edits',
      status: 'warn',
      detail: `an edited file loses its access list and attributes${isLinux ? ', and its group all that others do not have' : ''}`,
      fix: isLinux ? 'install the optional package koffi beside Workcell' : '',
    };
  }
  const names = { accessLists: 'access lists', userAttributes: 'user attributes' };
  const [had, lacked] = [true, false].map((isHad) =>
    Object.entries(names).flatMap(([key, name]) => (kept[key as keyof KeptAttributes] === isHad ? name : [])),
  );
  const lacking = `the file system of the workspace has no ${lacked!.join(' or ')}`;
  const parts = [
    ...(had!.length > 0 ? [`${had!.join(' and ')} are kept`] : []),
    ...(lacked!.length > 0 ? [lacking] : []),
  ];
  return { check: 'edits', status: 'ok', detail: parts.join('; '), fix: '' };
}

const HOLDS: Record<Containment, string> = {
  cgroup2: 'a control group (v2) for each job: nothing outlives it',
  cgroup1: 'a control group (v1) for each job: nothing outlives it',
  'pid-namespace': 'a process namespace for each job: nothing outlives it',
  session: 'a session for each job: a process that leaves it on purpose may outlive the job',
};

export async function checkJobs(): Promise<Finding> {
  const children = await Children.open();
  await children.close();
  const { containment } = children;
  const fix = 'run on Linux where control groups are writable or process namespaces allowed';
  return judged(containment !== 'session', { check: 'jobs', detail: HOLDS[containment], fix });
}

/** Begins a change over a directory of its own, so that the answer is about this host. */
export async function checkChanges(): Promise<Finding> {
  const found = await probeChanges(tmpdir());
  if ('problem' in found) {
    const [detail = '', fix = ''] = splitAt(found.problem, '; ');
    return { check: 'changes', status: 'off', detail, fix };
  }
  const detail =
    found.mount === 'overlay'
      ? 'a change is a layer over the workspace'
      : 'a change is a layer over the workspace, in which its folders cannot be renamed';
  return { check: 'changes', status: 'ok', detail, fix: '' };
}

/** Builds the fence round a directory of its own, so that the answer is about this host. */
export async function checkFence(): Promise<Finding> {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'workcell-doctor-')));
  try {
    const problem = await probeFence(workspace);
    const [detail = '', fix = ''] = problem === undefined ? [] : splitAt(problem, '; ');
    if (problem !== undefined) return { check: 'fence', status: 'off', detail, fix };
    return { check: 'fence', status: 'ok', detail: 'commands can run inside the fence', fix: '' };
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

function splitAt(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

export function checkSearch({ index, index_memory_mb: mb }: { index: string; index_memory_mb: number }): Finding {
  const isOn = index !== 'off';
  return {
    check: 'search',
    status: 'ok',
    detail: `built in; index ${isOn ? `in memory, at most ${mb} MiB a worker` : 'off: every search reads the files'}`,
    fix: isOn ? '' : 'set index: auto in the coder block if searches are slow',
  };
}
