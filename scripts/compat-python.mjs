/**
 * The Python quickstart of the originals, run with the published SDK against our engine.
 *
 * Needs python3 and PyPI. `npm run compat:python -- 0.24.6` tries other versions than those below, the newest of them first.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { report, run, serveForPrograms, SHELL_RESULT } from '../tests/compat/support/published-sdks.mjs';

const QUICKSTART = `
from iii import register_worker
worker = register_worker("ws://localhost:49134")
result = worker.trigger({
"function_id": "shell::exec",
"payload": {"command": "echo", "args": ["hello"]},
})
print(result)
`;
const READ_FILE = QUICKSTART.replace('shell::exec', 'coder::read-file').replace(
  '{"command": "echo", "args": ["hello"]}',
  '{"path": "notes.md"}',
);
const NOTES = '# notes\n- one\n- two\n';

const given = process.argv.slice(2);
const versions = given.length > 0 ? given : ['0.25.0', '0.22.1', '0.11.6'];
const served = await serveForPrograms();
const checks = [];
try {
  writeFileSync(join(served.workspace, 'notes.md'), NOTES);
  for (const version of versions) checks.push(...(await tryVersion(version)));
} finally {
  await served.close();
}
report('compat:python', checks);

async function tryVersion(version) {
  const folder = mkdtempSync(join(tmpdir(), 'workcell-compat-python-'));
  try {
    await must('python3', ['-m', 'venv', folder], 120_000);
    const python = join(folder, 'bin', 'python');
    await must(python, ['-m', 'pip', 'install', '--quiet', `iii-sdk==${version}`], 300_000);
    return [
      await check(`iii-sdk ${version}, shell::exec (stand-in)`, python, QUICKSTART, `${pythonText(SHELL_RESULT)}\n`),
      await check(
        `iii-sdk ${version}, coder::read-file`,
        python,
        READ_FILE,
        `'content': ${JSON.stringify(NOTES).replaceAll('"', "'")}`,
      ),
    ];
  } catch (error) {
    return [{ name: `iii-sdk ${version}`, isOk: false, detail: error.message }];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The program ends on its own only if the SDK lets it: it is over once the result is printed. */
async function check(name, python, program, expected) {
  const here = program.replace(':49134', `:${served.port}`);
  const env = { OTEL_ENABLED: 'false', PYTHONUNBUFFERED: '1' };
  const { stdout, stderr } = await run(python, ['-c', here], { env, until: expected, deadlineMs: 30_000 });
  const isOk = stdout.includes(expected);
  return {
    name,
    isOk,
    detail: isOk ? stdout.trim().slice(0, 100) : `printed "${stdout.trim()}" ${stderr.slice(-500)}`,
  };
}

/** A flat object as Python prints it. */
function pythonText(object) {
  const fields = Object.entries(object).map(([key, value]) => {
    const text = typeof value === 'string' ? `'${JSON.stringify(value).slice(1, -1)}'` : String(value);
    return `'${key}': ${text}`;
  });
  return `{${fields.join(', ')}}`;
}

async function must(command, args, deadlineMs) {
  const { code, stderr } = await run(command, args, { deadlineMs });
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr.slice(-500)}`);
}
