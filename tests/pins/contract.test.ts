/**
 * Literals that users and tests rely on, written out.
 *
 * Red means "on purpose?", not "forbidden": if it is, change the line here and say so in CHANGELOG.md.
 */
import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { configKeys, summariseErrors, type AnyWorker } from '#contract';
import { engineErrors, engineWorker } from '#engine';
import { commands } from '../../src/cli/commands/index.ts';
import { engineUrl } from '../../src/cli/engine-address.ts';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { listenOptions } from '../../src/cli/listen-options.ts';
import { availableWorkers } from '../../src/cli/workers.ts';

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Record<
  string,
  unknown
>;
const perWorker = <T>(tell: (def: AnyWorker) => T) =>
  Object.fromEntries(availableWorkers.map((def) => [def.name, tell(def)]));
const statusByCode = (def: Pick<AnyWorker, 'errors'>) =>
  Object.fromEntries(summariseErrors(def.errors).map(({ code, http }) => [code, http]));

test('the package', () => {
  const { name, type, bin, exports, engines } = manifest;
  expect({ name, type, bin, exports, engines }).toEqual({
    name: 'workcell',
    type: 'module',
    bin: { workcell: 'dist/cli/main.js' },
    exports: {
      './contract': { types: './dist/contract/index.d.ts', default: './dist/contract/index.js' },
      './client': { types: './dist/client/index.d.ts', default: './dist/client/index.js' },
      './package.json': './package.json',
    },
    engines: { node: '>=20.19' },
  });
});

test('the function ids of every worker', () => {
  expect(perWorker((def) => def.functions.map(({ id }) => id))).toEqual({
    coder: [
      'coder::read-file',
      'coder::search',
      'coder::update-file',
      'coder::create-file',
      'coder::delete-file',
      'coder::list-folder',
      'coder::tree',
    ],
  });
});

test('the function ids of the engine', () => {
  expect(engineWorker.functions.map(({ id }) => id).toSorted()).toEqual([
    'engine::channels::create',
    'engine::functions::info',
    'engine::functions::list',
    'engine::register_trigger',
    'engine::registered-triggers::info',
    'engine::registered-triggers::list',
    'engine::trigger-types::list',
    'engine::triggers::info',
    'engine::triggers::list',
    'engine::unregister_trigger',
    'engine::workers::info',
    'engine::workers::list',
    'engine::workers::register',
  ]);
});

test('the error codes of every worker and their HTTP status', () => {
  expect(perWorker(statusByCode)).toEqual({
    coder: { C210: 400, C211: 404, C213: 413, C215: 403, C216: 500, C217: 409, C221: 409 },
  });
});

test('the error codes of the engine and their HTTP status', () => {
  expect(statusByCode({ errors: engineErrors })).toEqual({
    function_not_found: 404,
    invocation_stopped: 503,
    channel_send_failed: 503,
    payload_too_large: 413,
    too_many_calls: 429,
    limit_reached: 429,
    TIMEOUT: 504,
    enqueue_error: 501,
    INVALID_NAMESPACE: 400,
    NOT_FOUND: 404,
    INVALID_ARGUMENTS: 400,
    deserialization_error: 400,
    trigger_registration_failed: 422,
    not_json: 422,
    internal_error: 500,
  });
});

test('the configuration keys of every worker and their defaults', () => {
  const defaults = (def: AnyWorker) =>
    Object.fromEntries(configKeys(def.config).map(({ key, default: value }) => [key, value]));
  expect(perWorker(defaults)).toEqual({
    coder: {
      base_path: './',
      non_accessible_globs: ['**/.env', '**/.env.*', '**/*.pem', '**/*.key', '**/secrets/**'],
      max_read_bytes: 10_485_760,
      max_write_bytes: 10_485_760,
      tree_default_depth: 4,
      tree_per_folder_limit: 50,
      list_default_page_size: 100,
      list_max_page_size: 1000,
      search_default_max_matches: 1000,
      search_default_max_line_bytes: 4096,
      index: 'auto',
      index_memory_mb: 512,
      fsync: true,
    },
  });
});

test('what every key takes from the workspace', () => {
  expect(perWorker((def) => def.workspaceDefaults('/w'))).toEqual({ coder: { base_path: '/w' } });
});

test('the commands, their other names and their options', () => {
  const shape = commands.map(({ name, aliases = [], options }) => [
    [name, ...aliases].join(' | '),
    Object.keys(options).join(' '),
  ]);
  expect(Object.fromEntries(shape)).toEqual({
    start: 'config workspace host port token allow-host allow-origin log-level',
    'call | trigger': 'json timeout-ms namespace url token',
    functions: 'all json url token',
    'worker run': 'config workspace url token',
    'worker add': 'config',
    'config print': 'config workspace json',
    doctor: 'json url token',
  });
});

test('where start listens and commands look', () => {
  expect([listenOptions.host?.default, listenOptions.port?.default]).toEqual(['127.0.0.1', '49134']);
  expect(engineUrl({ url: undefined })).toBe(process.env.III_URL || 'ws://127.0.0.1:49134');
});

test('the exit codes', () => {
  expect(EXIT).toEqual({ ok: 0, failed: 1, usage: 2, unreachable: 3 });
});
