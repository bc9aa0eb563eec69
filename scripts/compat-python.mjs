/**
 * The Python samples of the seeds, run with the published SDK against our engine and workers.
 *
 * Needs python3 and PyPI, and what a sandbox needs. `npm run compat:python -- 0.24.6` tries other versions than those below,
 * the newest of them first.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { report, run, serveForPrograms } from '../tests/compat/support/published-sdks.mjs';

const given = process.argv.slice(2);
const versions = given.length > 0 ? given : ['0.25.0', '0.22.1', '0.11.6'];
const served = await serveForPrograms();
const checks = [];
try {
  for (const version of versions) checks.push(...(await tryVersion(version)));
  const left = await served.call('sandbox::list', {});
  checks.push({ name: 'every sandbox was stopped', isOk: left.sandboxes.length === 0 });
} finally {
  await served.close();
}
report('compat:python', checks);

async function tryVersion(version) {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-compat-python-'));
  // The sample awaits what every published version answers at once, and at the top of a file, where Python has no await.
  const sandboxSample = served.sample('sandbox.python').replaceAll('await ', '');
  try {
    await must('python3', ['-m', 'venv', folder], 120_000);
    const python = join(folder, 'bin', 'python');
    await must(python, ['-m', 'pip', 'install', '--quiet', `iii-sdk==${version}`], 300_000);
    return [
      await check(`iii-sdk ${version}, shell::exec`, python, served.sample('shell.python'), `'stdout': 'hello\\n'`),
      await check(
        `iii-sdk ${version}, a sandbox without await`,
        python,
        `${sandboxSample}print("stopped")`,
        '4\n\nstopped\n',
      ),
    ];
  } catch (error) {
    return [{ name: `iii-sdk ${version}`, isOk: false, detail: error.message }];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The program ends on its own only if the SDK lets it: it has ended once the result is printed. */
async function check(name, python, program, expected) {
  const env = { OTEL_ENABLED: 'false', PYTHONUNBUFFERED: '1' };
  const { stdout, stderr } = await run(python, ['-c', program], { env, until: expected, deadlineMs: 300_000 });
  const isOk = stdout.includes(expected);
  return {
    name,
    isOk,
    detail: isOk ? JSON.stringify(stdout.trim().slice(0, 100)) : `printed "${stdout.trim()}" ${stderr.slice(-500)}`,
  };
}

async function must(command, args, deadlineMs) {
  const { code, stderr } = await run(command, args, { deadlineMs });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr.slice(-500)}`);
}
