/** bench-agent task 4: start the dev server of an app, change a file, see the change, stop the server. */
import { join } from 'node:path';

import { process, read, replace, sh } from '../ways.mjs';

const DEV = 'npm run dev -- --port 4173 --strictPort --host 127.0.0.1';
const ASK = 'curl -s http://127.0.0.1:4173/src/counter.js > answer.txt; grep -c Clicks answer.txt';
const COUNTER = 'src/counter.js';
const [OLD, NEW] = ['Count is', 'Clicks:'];

export const devServer = {
  name: 'task 4: dev server',
  repository: 'vite-app',
  async coding(call) {
    await call('run', { command: DEV, background: true, until: { port: 4173 } });
    await call('edit', { edits: [{ path: COUNTER, old: OLD, new: NEW }] });
    await call('run', { command: ASK });
    await call('job', { id: 'j1', stop: true });
  },
  async all(call) {
    const started = await call('shell_exec_bg', { script: DEV });
    const job_id = /job_id: (\S+)/.exec(started)?.[1];
    await call('shell_output', { job_id, until: { port: 4173 } });
    await call('coder_update_file', { files: [replace(COUNTER, OLD, NEW)] });
    await sh(call, ASK);
    await call('shell_kill', { job_id });
  },
  async commander(call, root) {
    const started = await process(call, root, DEV, 5000);
    const pid = Number(/PID (\d+)/.exec(started)?.[1]);
    await call('edit_block', { file_path: join(root, COUNTER), old_string: OLD, new_string: NEW });
    await process(call, root, ASK);
    await call('force_terminate', { pid });
  },
  isDone: (root) => read(root, 'answer.txt').includes(NEW),
};
