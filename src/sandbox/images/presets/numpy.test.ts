/**
 * A preset is useful: what people install first works in it, through the proxy of its network.
 *
 * The index is on this machine. Its one package is fetched by this machine's pip, which can reach a registry.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';

import { expect, onTestFinished, test } from 'vitest';

import { IMAGE_PATIENCE_MS, serveSandboxes, tempDir, whyNoSandbox } from '#testing';

const why = await whyNoSandbox(['python']);
const MACHINE = process.arch === 'arm64' ? 'aarch64' : 'x86_64';

async function download(folder: string, python: string): Promise<string | undefined> {
  const platforms = ['manylinux2014', 'manylinux_2_27', 'manylinux_2_28'].map(
    (name) => `--platform=${name}_${MACHINE}`,
  );
  const how = ['--no-deps', '--only-binary=:all:', `--python-version=${python}`, ...platforms, '--dest', folder];
  try {
    await promisify(execFile)('python3', ['-m', 'pip', 'download', 'numpy', '--quiet', ...how], { timeout: 60_000 });
    return undefined;
  } catch (error) {
    return `pip of this machine gets no numpy: ${(error as Error).message.slice(0, 200)}`;
  }
}

test.skipIf(why !== undefined)(
  `pip install numpy, import numpy${why === undefined ? '' : ` (${why})`}`,
  { timeout: IMAGE_PATIENCE_MS },
  async ({ skip }) => {
    await using dir = await tempDir();
    const server = createServer((request, reply) => {
      const name = decodeURIComponent(request.url!.split('/').at(-1)!);
      if (name !== '') return void reply.end(readFileSync(dir.path(name)));
      const links = readdirSync(dir.root).map((wheel) => `<a href="${wheel}">${wheel}</a>`);
      reply.setHeader('content-type', 'text/html').end(links.join(''));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const place = `host.internal:${(server.address() as AddressInfo).port}`;
    await using cell = await serveSandboxes({ egress: { allow: [place] } });
    const sandbox_id = await cell.create({ network: true });
    const exec = async (...argv: string[]) => cell.call<{ stdout: string }>('sandbox::exec', { sandbox_id, argv });

    const { stdout: python } = await exec('python3', '-c', 'import sys; print("%d.%d" % sys.version_info[:2])');
    const whyNoWheel = await download(dir.root, python.trim());
    if (whyNoWheel !== undefined) skip(whyNoWheel);

    const index = ['--index-url', `http://${place}/simple`, '--trusted-host', 'host.internal'];
    expect(await exec('pip', 'install', '--quiet', ...index, 'numpy')).toMatchObject({ exit_code: 0 });
    expect(await exec('python3', '-c', 'import numpy; print(numpy.arange(5) @ numpy.arange(5))')).toMatchObject({
      stdout: '30\n',
      stderr: '',
    });
  },
);
