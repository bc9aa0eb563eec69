/** GET /metrics, read by a parser that others wrote, and which callers may read it. */
import { readFileSync } from 'node:fs';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { accessConfig } from '#access';
import { availableWorkers, openGuard, parseEntries, startWorkcell, type RunningWorkcell } from '#assembly';
import { connect } from '#client';
import { parseConfig, silentLog } from '#contract';
import { parsePrometheus, tempDir, type TempDir } from '#testing';

const SECRETS = { METRICS_ALL: 'metrics-all', METRICS_ONLY: 'metrics-only', METRICS_NONE: 'metrics-none' };
const ACCESS = {
  tokens: [
    { name: 'all', env: 'METRICS_ALL' },
    { name: 'prometheus', env: 'METRICS_ONLY', policy: 'prometheus' },
    { name: 'agent', env: 'METRICS_NONE', policy: 'edits' },
  ],
  policies: {
    prometheus: [{ allow: { function: 'engine::metrics' } }],
    edits: [{ allow: { function: 'coder::*' } }],
  },
};

let dir: TempDir;
let cell: RunningWorkcell;
let http: string;

beforeAll(async () => {
  dir = await tempDir({ 'w/a.txt': 'a\n' });
  Object.assign(process.env, SECRETS);
  const workspace = dir.path('w');
  const workers = [
    { name: 'coder' },
    { name: 'shell', config: { allowlist: ['sleep'] } },
    { name: 'iii-sandbox', config: { prepare_images: false, cache_dir: dir.path('cache') } },
  ];
  const text = JSON.stringify({ state_dir: dir.path('state'), workers });
  const entries = parseEntries(text, availableWorkers, { workspace });
  const config = parseConfig(accessConfig, ACCESS, 'access');
  const guard = openGuard({ config, workspace, stateDir: dir.path('state'), log: silentLog });
  cell = await startWorkcell({ host: '127.0.0.1', port: 0, entries, log: silentLog, guard });
  http = cell.url.replace(/^ws/, 'http');
});
afterAll(async () => {
  await cell?.close();
  await dir?.[Symbol.asyncDispose]();
});

const read = (token: string) => fetch(`${http}/metrics`, { headers: { Authorization: `Bearer ${token}` } });

/** Series by their metric and labels. */
async function series(): Promise<Map<string, number>> {
  const response = await read(SECRETS.METRICS_ONLY);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parsePrometheus(await response.text());
}

function call(path: string, payload: object): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${SECRETS.METRICS_ALL}` };
  return fetch(`${http}/functions/${path}`, { method: 'POST', headers, body: JSON.stringify(payload) });
}

test('access.P1 counts calls by function and outcome, their durations, and what was refused', async () => {
  await call('coder/read-file', { path: 'a.txt' });
  await call('coder/read-file', { path: 'missing.txt' });
  await call('shell/exec_bg', { command: 'sleep 60' });
  const agent = await connect(cell.url, { name: 'agent', token: SECRETS.METRICS_NONE, log: silentLog });
  await expect(agent.call('shell::exec', { command: 'ls' })).rejects.toMatchObject({ code: 'forbidden' });
  for (const id of ['invented::one', 'invented::two"\n}']) await agent.call(id).catch(() => undefined);
  agent.close();
  await read('wrong');

  const found = await series();
  expect(found.get('workcell_calls_total{"function":"coder::read-file","outcome":"ok"}')).toBe(1);
  expect(found.get('workcell_calls_total{"function":"coder::read-file","outcome":"failed"}')).toBe(1);
  expect(found.get('workcell_call_duration_seconds_count{"function":"coder::read-file"}')).toBe(2);
  expect(found.get('workcell_call_duration_seconds_bucket{"function":"coder::read-file","le":"+Inf"}')).toBe(2);
  expect(found.get('workcell_refusals_total{"function":"shell::exec","code":"forbidden"}')).toBe(1);
  expect(found.get('workcell_refusals_total{"function":"other","code":"function_not_found"}')).toBe(2);
  expect(found.get('workcell_requests_refused_total{"code":"unauthorized"}')).toBe(1);
  const shell = '"worker":"shell","namespace":"default"';
  expect(found.get(`workcell_jobs{${shell},"state":"running"}`)).toBe(1);
  expect(found.get('workcell_sandboxes{"worker":"iii-sandbox","namespace":"default","state":"busy"}')).toBe(0);
  expect(found.get('workcell_calls_waiting{"for":"approval"}')).toBe(0);
  // The call that reads them.
  expect(found.get('workcell_calls_running{}')).toBe(1);
  // Bytes, not KiB or MiB.
  expect(found.get('process_resident_memory_bytes{}')).toBeGreaterThan(1e6);
  expect([...found.keys()].filter((key) => key.includes('invented'))).toEqual([]);
});

test('access.P1 follows policies and the port like every other call', async () => {
  expect((await read(SECRETS.METRICS_ALL)).status).toBe(200);
  expect((await read(SECRETS.METRICS_NONE)).status).toBe(403);
  expect((await read('wrong')).status).toBe(401);
  expect((await fetch(`${http}/metrics`)).status).toBe(401);
});

test('access.P5 the dashboard asks only for metrics and labels that are there, and for all of ours', async () => {
  const found = [...(await series()).keys()];
  const nameOf = (key: string) => key.slice(0, key.indexOf('{'));
  const names = new Set(found.map(nameOf));
  const text = readFileSync(new URL('../../deploy/grafana/workcell.json', import.meta.url), 'utf8');
  const { panels } = JSON.parse(text) as { panels: { title: string; targets: { expr: string }[] }[] };
  const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  const asked = new Set(queries.flatMap((expr) => expr.match(/\b(?:workcell|process|nodejs)_\w+/g) ?? []));
  expect([...asked].filter((name) => !names.has(name))).toEqual([]);
  for (const expr of queries) {
    const name = /\b(?:workcell|process|nodejs)_\w+/.exec(expr)![0];
    const labels = Object.keys(JSON.parse(found.find((key) => nameOf(key) === name)!.slice(name.length)) as object);
    const grouped = /by \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? [];
    expect({ expr, unknown: grouped.filter((label) => !labels.includes(label)) }).toEqual({ expr, unknown: [] });
  }
  const isShown = (name: string) => [...asked].some((one) => one.replace(/_(bucket|count|sum)$/, '') === name);
  const ours = [...names].map((name) => name.replace(/_(bucket|count|sum)$/, ''));
  expect(ours.filter((name) => !isShown(name))).toEqual([]);
});
