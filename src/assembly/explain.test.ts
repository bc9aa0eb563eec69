import { expect, test } from 'vitest';

import { Access, accessConfig } from '#access';
import { parseConfig, type Grants } from '#contract';
import { shippedFunction } from './access.ts';
import { parseEntries } from './config-file.ts';
import { decisive, explainCall } from './explain.ts';
import { presetEntries } from './presets.ts';
import { availableWorkers } from './workers.ts';

const workspace = process.cwd();
const policies = {
  review: [{ allow: { effect: 'read' } }, { ask: { permission: 'fs.write' } }],
  slow: [{ ask: { effect: 'read' } }],
};
const access = new Access({
  config: parseConfig(accessConfig, { policies }, 'access'),
  workspace,
  find: shippedFunction,
});

function entriesOf(shell: object) {
  const workers = [{ name: 'coder' }, { name: 'shell', config: shell }];
  return parseEntries(JSON.stringify({ workers }), availableWorkers, { workspace });
}

const look = () => presetEntries({ name: 'look', holds: '', isShipped: false }, availableWorkers, { workspace });

interface Case {
  id: string;
  payload?: object;
  grants?: Grants;
  shell?: object;
  preset?: 'look';
  verdict: string;
  rule: string;
  change: string;
}

const CASES: Case[] = [
  { id: 'coder::tree', verdict: 'allow', rule: 'no policy limits', change: 'name a policy' },
  { id: 'coder::tree', grants: { only: ['shell'] }, verdict: 'deny', rule: '--tools shell', change: 'to --tools' },
  { id: 'shell::exec', grants: { isReadOnly: true }, verdict: 'deny', rule: '--read-only', change: 'leave' },
  {
    ...{ id: 'coder::create-file', payload: { files: [{ path: 'a.txt' }] }, grants: { policy: 'review' } },
    ...{ verdict: 'ask', rule: 'review[1]', change: 'access.policies.review' },
  },
  { id: 'coder::read-file', payload: { path: '.env' }, preset: 'look', verdict: 'deny', rule: 'protect', change: '!' },
  { id: 'coder::create-file', preset: 'look', verdict: 'deny', rule: 'preset look', change: 'preset look' },
  { id: 'sandbox::create', preset: 'look', verdict: 'deny', rule: 'preset look', change: 'preset look' },
  // An asking rule beats an allowing one, and a denying rule beats both, in any order.
  {
    ...{ id: 'coder::tree', preset: 'look', grants: { policy: 'slow' } },
    ...{ verdict: 'ask', rule: 'slow[0]', change: 'access.policies.slow' },
  },
  {
    ...{ id: 'coder::create-file', payload: { files: [{ path: '.env' }] }, grants: { policy: 'review' } },
    ...{ verdict: 'deny', rule: 'protect: .env', change: '"!.env"' },
  },
  {
    ...{ id: 'coder::read-file', payload: { path: '.env' } },
    ...{ verdict: 'deny', rule: 'protect: .env', change: '"!.env"' },
  },
  {
    ...{ id: 'shell::exec', payload: { command: 'nmap' }, shell: { allowlist: ['ls'] } },
    ...{ verdict: 'deny', rule: 'shell.allowlist', change: 'shell.allowlist' },
  },
  {
    ...{ id: 'shell::exec', payload: { command: 'ls secret' } },
    shell: { allowlist: ['ls'], denylist_patterns: ['secret'] },
    ...{ verdict: 'deny', rule: 'shell.denylist_patterns', change: 'shell.denylist_patterns' },
  },
  {
    ...{ id: 'shell::exec', payload: { command: 'ls -R' } },
    shell: { allowlist: ['ls'], rules: [{ program: 'ls', args: ['-R'], decision: 'deny', reason: 'too long' }] },
    ...{ verdict: 'deny', rule: 'shell.rules', change: 'shell.rules' },
  },
];

test.each(CASES)(
  'access.P4 $id is $verdict by $rule',
  async ({ id, payload = {}, grants = {}, shell = {}, preset, ...right }) => {
    const entries = preset ? look() : entriesOf(shell);
    const source = preset ? 'preset look' : 'a file';
    const checks = await explainCall(shippedFunction(id)!, payload, { access, entries, source, grants });
    const { verdict, rule, change } = decisive(checks);
    expect({ verdict, rule, change }).toEqual({
      verdict: right.verdict,
      rule: expect.stringContaining(right.rule),
      change: expect.stringContaining(right.change),
    });
  },
);

test('access.P4 the fence is shown beside the rule that decided', async () => {
  const entries = entriesOf({ fence: 'workspace' });
  const checks = await explainCall(
    shippedFunction('shell::exec')!,
    { command: 'anything' },
    {
      ...{ access, entries, source: 'a file', grants: {} },
    },
  );
  expect(checks.map(({ rule }) => rule).join()).toContain('shell.fence: workspace');
  expect(decisive(checks).verdict).toBe('allow');
});
