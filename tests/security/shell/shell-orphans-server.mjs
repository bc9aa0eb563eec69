/**
 * A server that owns children, alone in a process that can be killed.
 *
 * Arguments: the rung that holds jobs together, what makes terminals, and the workspace of a fence round the jobs. It takes commands over IPC,
 * one reply per message, under the message's number.
 */
import { readFileSync, writeFileSync } from 'node:fs';

import { Fence } from '../../../dist/fence/index.js';
import { Children } from '../../../dist/host/children/index.js';
import { OutputRing } from '../../../dist/host/process/index.js';
import { openScriptTerminal, openTerminal } from '../../../dist/host/terminal/open-terminal.js';

const [containment, maker, workspace] = process.argv.slice(2);
const terminals = maker === 'script' ? openScriptTerminal : openTerminal;
const children = await Children.open({ terminals, ...(containment !== 'best' && { containment }) });
const jobs = new Map();
const paths = { read: [], layers: [], write: [], hide: [] };
const fence =
  workspace && new Fence({ workspace, protect: [], network: 'loopback', egress: { allow: [], deny: [] }, paths });
await fence?.open();

const commands = {
  async start({ job, spec: { ringBytes, ...spec } }) {
    const ring = ringBytes === undefined ? undefined : new OutputRing(ringBytes);
    const launch = await fence?.launch();
    jobs.set(job, await children.start({ ...spec, ...(fence && { cwd: workspace }), launch, ring }));
  },
  async done({ job }) {
    const { exitCode, signal, timedOut, stdout, stderr, stdoutTruncated, stderrTruncated } = await jobs.get(job).done;
    const sizes = { stdoutBytes: stdout.length, stderrBytes: stderr.length };
    return { exitCode, signal, timedOut, stdoutTruncated, stderrTruncated, ...sizes };
  },
  kill: ({ job }) => jobs.get(job).kill(),
  async close() {
    await children.close();
    await fence?.close();
  },
  /** Its current memory, and the peak since the last request, as the kernel counts. */
  memory() {
    globalThis.gc();
    const [rss, peak] = ['VmRSS', 'VmHWM'].map((key) => memoryBytes(key));
    writeFileSync('/proc/self/clear_refs', '5');
    return { rss, peak };
  },
};

process.on('message', (message) => void reply(message));
process.on('disconnect', () => process.exit());
process.send({ containment: children.containment });

async function reply({ number, command, ...words }) {
  process.send({ number, result: (await commands[command](words)) ?? null });
}

function memoryBytes(key) {
  return Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(readFileSync('/proc/self/status', 'latin1'))[1]) * 1024;
}
