/** Secrets that the server has in its own variables, looked for wherever a caller or a reader of files could find them. */
import { readFileSync, writeFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { tempDir } from '#testing';
import { runCli, startCli } from '../../../src/testing/cli.ts';
import { Collector } from '../../e2e/support/collector.ts';

const HEADER = 'planted-collector-key';
const TOKEN = 'planted-token-of-ci';
const CONFIG = {
  access: { tokens: [{ name: 'ci', env: 'CI_SECRET' }], policies: {} },
  workers: [
    { name: 'shell', config: { inherit_env: true, allowed_env: ['OTEL_EXPORTER_OTLP_HEADERS'], allowlist: [] } },
  ],
};

test('access.P8 the headers for the collector and the secrets of tokens reach no command, audit, log or printed configuration', async () => {
  await using dir = await tempDir({ 'w/a.txt': '' });
  await using collector = await Collector.start();
  writeFileSync(dir.path('cell.yaml'), JSON.stringify({ ...CONFIG, state_dir: dir.path('state') }));
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${HEADER}`,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    CI_SECRET: TOKEN,
    HARMLESS: 'yes',
  };
  const args = ['-c', dir.path('cell.yaml'), '--workspace', dir.path('w')];
  await using cell = await startCli(['start', '--port', '0', ...args], { env });
  const exec = async (command: string, more: object = {}) => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${TOKEN}` };
    const body = JSON.stringify({ command, ...more });
    return (await fetch(`${cell.http}/functions/shell/exec`, { method: 'POST', headers, body })).text();
  };
  const seen = await exec('printenv');
  expect(seen).toContain('HARMLESS=yes');
  const setting = await exec('printenv', { env: { OTEL_EXPORTER_OTLP_HEADERS: 'x=y' } });
  expect(setting).toContain('OTEL_EXPORTER_OTLP_HEADERS may not be set');
  // A caller that has learned them: what it does with them is recorded.
  const given = `echo ${HEADER} Bearer ${HEADER} ${TOKEN} ${env.OTEL_EXPORTER_OTLP_HEADERS}`;
  expect(await exec(given)).toContain(HEADER);
  await expect.poll(() => collector.spans.length).toBeGreaterThan(0);
  expect(collector.received[0]!.headers.authorization).toBe(`Bearer ${HEADER}`);
  const printed = await runCli(['config', 'print', ...args], { env });
  expect(printed.code).toBe(0);
  expect(await cell.stop()).toBe(0);

  const audit = readFileSync(dir.path('state/audit/1/current.jsonl'), 'utf8');
  expect(audit).toContain('echo *** ');
  const bodies = collector.received.map(({ body }) => body).join('');
  const shown = { seen, setting, audit, config: printed.stdout, printed: cell.stdout, log: cell.stderr, bodies };
  for (const secret of [HEADER, TOKEN]) {
    expect(
      Object.entries(shown)
        .filter(([, text]) => text.includes(secret))
        .map(([where]) => where),
    ).toEqual([]);
  }
});
