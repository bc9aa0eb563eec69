/** agent::sandbox on a real machine: files in and out, packages, hostile names, limits, and cleanup. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

import { describe, expect, test, vi } from 'vitest';

import {
  agentCell,
  CASE_PATIENCE_MS,
  IMAGE_PATIENCE_MS,
  sandboxConfig,
  tempDir,
  whyNoSandbox,
  type AgentCell,
} from '#testing';

const why = await whyNoSandbox(['python']);

/** Makes a package as pip installs it. */
const MAKE_WHEEL = `import zipfile
w = zipfile.ZipFile('tiny-1.0-py3-none-any.whl', 'w')
w.writestr('tiny.py', 'answer = 42')
w.writestr('tiny-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
w.writestr('tiny-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
w.writestr('tiny-1.0.dist-info/RECORD', '')
w.close()`;

const python = (command: string, more: object = {}) => ({ image: 'python', command, ...more });

describe.skipIf(why !== undefined)(`agent::sandbox${why === undefined ? '' : ` (${why})`}`, () => {
  vi.setConfig({ testTimeout: 2 * CASE_PATIENCE_MS, hookTimeout: IMAGE_PATIENCE_MS });

  const open = (entries: Parameters<typeof agentCell>[0] = {}) =>
    agentCell(entries, {}, { sandboxes: sandboxConfig() });
  const machines = async (cell: AgentCell) => {
    const { sandboxes } = (await cell.bus.call('sandbox::list', {})) as { sandboxes: unknown[] };
    return sandboxes.length;
  };

  test('agent.C25 files go in and out, a package is installed, and the machine is gone', async () => {
    await using cell = await open({
      'make.py': MAKE_WHEEL,
      'src/in.txt': 'hello',
      'src/skip.log': '',
      '.gitignore': '*.log',
    });
    const made = await cell.text(
      'sandbox',
      python('python3 make.py; ls', { files: ['make.py', 'src'], bring: ['*.whl'] }),
    );
    expect(made).toMatch(
      /^make\.py\nsrc\ntiny\S+\nbrought back as change 1: tiny-1\.0-py3-none-any\.whl \(\d+ bytes\)$/,
    );

    const used = await cell.text('sandbox', {
      ...python(
        'python3 -c "import tiny; print(tiny.answer)"; ls src; mkdir -p out/deep; tr a-z A-Z < src/in.txt | tee out/deep/x',
      ),
      files: [cell.dir.path('src'), 'tiny-1.0-py3-none-any.whl'],
      install: ['./tiny-1.0-py3-none-any.whl'],
      bring: ['out', 'none.txt'],
    });
    expect(used).toBe('42\nin.txt\nHELLO\nbrought back as change 2: out/deep/x (5 bytes)\nnot there: none.txt');
    expect(readFileSync(cell.dir.path('out/deep/x'), 'utf8')).toBe('HELLO');
    expect(await cell.text('undo')).toBe('undone: change 2 (out/deep/x)');
    expect(existsSync(cell.dir.path('out/deep/x'))).toBe(false);
    expect(await machines(cell)).toBe(0);
  });

  test('agent.C26 a package that cannot be had is reported, and the command does not run', async () => {
    await using cell = await open();
    const text = await cell.text('sandbox', python('echo ran', { install: ['no-such-package'], bring: ['x'] }));
    expect(text).toMatch(/^the packages could not be installed; the command did not run\nexit 1\n/);
    expect(text).toContain('refused: pypi.org:443: ');
    expect(text).not.toMatch(/^ran$/m);
    expect(await cell.text('sandbox', { image: 'alpine', command: 'true', install: ['x'] })).toContain(
      'A210: install works',
    );
    expect(await machines(cell)).toBe(0);
  });

  test('agent.C27 names that the machine chooses write only what was asked for, inside the workspace', async () => {
    await using outside = await tempDir({});
    await using cell = await open({ '.env': 'SECRET=1', link: { symlink: outside.root }, 'a.txt': 'mine' });
    const hostile = String.raw`mkdir -p out link; cd out; touch -- '-delete' ' blank' '*'; printf x > "$(printf 'two\nlines')"; ln -s /etc/passwd passwd; ln -s / root; cd ..; echo 1 > link/x; echo 2 > .env; echo 3 > a.txt`;
    expect(await cell.text('sandbox', python(hostile, { bring: ['out/*'] }))).toContain('brought back as change 1: ');
    expect(readdirSync(cell.dir.path('out')).toSorted()).toEqual([' blank', '*', '-delete', 'two\nlines']);
    for (const [bring, code] of [
      [['link/x'], 'A215'],
      [['.env'], 'A211'],
      [['../x'], 'A215'],
      [['/etc/passwd'], 'A215'],
      [['a.txt', '.env'], 'A211'],
    ] as const) {
      expect(await cell.text('sandbox', python(hostile, { bring }))).toMatch(new RegExp(`^${code}`));
    }
    expect([readFileSync(cell.dir.path('.env'), 'utf8'), readFileSync(cell.dir.path('a.txt'), 'utf8')]).toEqual([
      'SECRET=1',
      'mine',
    ]);
    expect(readdirSync(outside.root)).toEqual([]);
    expect(await cell.text('sandbox', python('cat .env', { files: ['.env'] }))).toMatch(/^A211/);
    expect(await machines(cell)).toBe(0);
  });

  test('agent.C28 time, output and files are limited, and a caller that leaves ends the machine', async () => {
    await using cell = await open();
    expect(await cell.text('sandbox', python('sleep 60', { timeout_s: 1 }))).toMatch(/^S200/);
    const flood = await cell.text('sandbox', python('seq 400000; echo not ok >&2; exit 3'));
    expect(flood).toMatch(/^exit 3\n1\n2\n/);
    expect(flood).toContain('the sandbox keeps the first MiB of output');
    expect(flood.length).toBeLessThan(12_500);
    expect(await cell.text('output', { id: 'o1', grep: '^100000$' })).toBe('100000: 100000');
    const many = await cell.text('sandbox', python('mkdir m; cd m; touch $(seq 501)', { bring: ['m'] }));
    expect(many).toBe('A210: bring: 501 files match; at most 500 are brought; name fewer');
    expect(existsSync(cell.dir.path('m'))).toBe(false);

    const leaving = new AbortController();
    const left = cell.bus.call('agent::sandbox', python('sleep 300'), { signal: leaving.signal, timeoutMs: 60_000 });
    await expect.poll(() => machines(cell)).toBe(1);
    leaving.abort();
    await expect(left).rejects.toThrow();
    await expect.poll(() => machines(cell)).toBe(0);
  });
});
