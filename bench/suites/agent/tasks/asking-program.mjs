/** A program that asks for a line and continues. */
import { process, read } from '../ways.mjs';

const LINE = 'read name; echo "hello $name" | tee said.txt';

export const askingProgram = {
  name: 'own 2: a program that asks',
  files: { 'README.md': '# x\n' },
  async coding(call) {
    await call('run', { command: LINE, background: true });
    await call('job', { id: 'j1', input: 'you\n' });
  },
  async all(call) {
    const started = await call('shell_exec_bg', { script: LINE, input: true });
    const job_id = /job_id: (\S+)/.exec(started)?.[1];
    await call('shell_input', { job_id, text: 'you\n' });
    await call('shell_output', { job_id, until: { exit: true } });
  },
  async commander(call, root) {
    const started = await process(call, root, LINE, 1000);
    await call('interact_with_process', { pid: Number(/PID (\d+)/.exec(started)?.[1]), input: 'you' });
  },
  isDone: (root) => read(root, 'said.txt') === 'hello you\n',
};
