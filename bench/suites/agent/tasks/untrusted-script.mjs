/**
 * bench-agent task 5: run a script of a stranger with a package that it needs, and take back the picture that it makes.
 *
 * Where the sandbox cannot reach the registry, the package comes as a file of the workspace; the suite says so.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { canInstall, WHEEL } from '../repositories.mjs';
import { read, sh } from '../ways.mjs';

const SCRIPT = `import segno
segno.make(open('in.txt').read()).save('out.png', scale=4)
print('done')
`;
const LOCAL = `pip install -q --disable-pip-version-check --root-user-action=ignore --no-index ${WHEEL}`;

export const untrustedScript = {
  name: 'task 5: untrusted script with a package',
  repository: 'segno',
  files: { 'job.py': SCRIPT, 'in.txt': 'hello\n' },
  async coding(call) {
    const files = ['job.py', 'in.txt'];
    const bring = ['out.png'];
    await call('sandbox', {
      image: 'python',
      ...(canInstall
        ? { install: ['segno'], files, command: 'python3 job.py' }
        : { files: [...files, WHEEL], command: `${LOCAL} && python3 job.py` }),
      bring,
    });
    await call('read', { paths: bring });
  },
  async all(call, root) {
    const made = await call('sandbox_create', { image: 'python', network: canInstall });
    const sandbox_id = /sandbox_id: (\S+)/.exec(made)?.[1];
    for (const path of ['job.py', 'in.txt']) {
      await call('sandbox_fs_write', { sandbox_id, path: `/tmp/${path}`, content: read(root, path) });
    }
    if (!canInstall) {
      const content_b64 = readFileSync(join(root, WHEEL)).toString('base64');
      await call('sandbox_fs_write', { sandbox_id, path: `/tmp/${WHEEL}`, content_b64 });
    }
    const install = canInstall ? 'pip install -q segno' : LOCAL;
    const argv = ['sh', '-c', `${install} && python3 job.py && base64 -w0 out.png`];
    const out = await call('sandbox_exec', { sandbox_id, argv, workdir: '/tmp' });
    await sh(call, `echo ${/[\w+/]{80,}=*/.exec(out)?.[0]} | base64 -d > out.png`);
    await call('sandbox_stop', { sandbox_id });
  },
  isDone: (root) =>
    existsSync(join(root, 'out.png')) && readFileSync(join(root, 'out.png')).subarray(1, 4).toString() === 'PNG',
};
