/**
 * A server that owns children, alone in a process that can be killed.
 *
 * Arguments: the rung that holds jobs together, and what makes terminals. It takes commands over IPC,
 * one reply per message, under the message's number.
 */
import { readFileSync, writeFileSync } from 'node:fs';

import { Children } from '../../dist/host/children/index.js';
import { OutputRing } from '../../dist/host/process/index.js';
import { openScriptTerminal, openTerminal } from '../../dist/host/terminal/open-terminal.js';

const [containment, maker] = process.argv.slice(2);
const terminals = maker === 'script' ? openScriptTerminal : openTerminal;
const children = await Children.open({ terminals, ...(containment !== 'best' && { containment }) });
const jobs = new Map();

const commands = {
  async start({ job, spec: { ringBytes, ...spec } }) {
    const ring = ringBytes === undefined ? undefined : new OutputRing(ringBytes);
    jobs.set(job, await children.start({ ...spec, ring }));
  },
  async done({ job }) {
    const { exitCode, signal, timedOut, stdout, stderr, stdoutTruncated, stderrTruncated } = await jobs.get(job).done;
    const sizes = { stdoutBytes: stdout.length, stderrBytes: stderr.length };
    return { exitCode, signal, timedOut, stdoutTruncated, stderrTruncated, ...sizes };
  },
  kill: ({ job }) => jobs.get(job).kill(),
  close: () => children.close(),
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
