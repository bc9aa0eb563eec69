import { describe, expect, test } from 'vitest';

import { makePrincipal, type Grants } from '#contract';
import type { Session } from '../session.ts';
import { Policies } from './authorize.ts';

const fn = (id: string, metadata?: unknown, namespace = 'default') => ({ id, namespace, metadata });
const refusalOf = (grants: Grants | undefined, called: ReturnType<typeof fn>, policies = new Policies()) =>
  policies.authorize(makePrincipal('local', 'agent', grants), called, {}).failure?.message ?? 'may';

test('without grants and denials everything may be called', () => {
  for (const metadata of [undefined, null, 'x', { effect: 'execute', risk: 'high', permissions: ['all'] }]) {
    expect(refusalOf(undefined, fn('a::b', metadata))).toBe('may');
  }
});

test.each([
  [['coder'], 'coder::search', true],
  [['coder::search'], 'coder::search', true],
  [['coder::search'], 'coder::searches', false],
  [['coder::search'], 'coder::tree', false],
  [['coder'], 'coder2::search', false],
  [['coder_search'], 'coder::search', false],
  [[], 'coder::search', false],
  [['coder'], 'engine::functions::list', false],
])('bus.P18 granted only %j: %s may be called: %s', (only, id, may) => {
  const refusal = `${id} may not be called: agent may call only ${only.join(', ')}`;
  expect(refusalOf({ only }, fn(id))).toBe(may ? 'may' : refusal);
});

test.each([
  [{ effect: 'read' }, true],
  [{ effect: 'write' }, false],
  [{ effect: 'execute' }, false],
  [{ effect: 'READ' }, false],
  [{ effect: ['read'] }, false],
  [{}, false],
  [undefined, false],
  ['read', false],
])('granted reading: what announces %j may be called: %s', (metadata, may) => {
  expect(refusalOf({ isReadOnly: true }, fn('a::b', metadata)) === 'may').toBe(may);
});

describe('what is denied in a namespace', () => {
  const policies = new Policies();
  policies.deny('lab', { functions: ['fs::rm'], permissions: ['fs.delete'], risks: [] });
  policies.deny('lab', { functions: [], permissions: [], risks: ['high'] });

  test.each([
    ['fs::rm', undefined, 'lab', false],
    ['fs::rm', undefined, 'default', true],
    ['fs::other', { permissions: ['fs.read', 'fs.delete'] }, 'lab', false],
    ['fs::other', { permissions: ['fs.delete'] }, 'default', true],
    ['fs::other', { risk: 'high' }, 'lab', false],
    ['fs::other', { risk: 'huge', permissions: 'fs.delete' }, 'lab', true],
    ['fs::other', undefined, 'lab', true],
  ])('%s with %j in %s may be called: %s', (id, metadata, namespace, may) => {
    const refusal = `${id} may not be called: the app of its namespace does not offer it`;
    expect(refusalOf(undefined, fn(id, metadata, namespace), policies)).toBe(may ? 'may' : refusal);
  });

  test.each([
    ['default', 'default', false],
    ['host', 'default', false],
    ['host/default', 'default', false],
    ['host/host', 'default', false],
    ['spare/host', 'default', false],
    ['host/lab', 'default', true],
    ['host/lab', 'lab', false],
    ['host/lab/a', 'lab', true],
    ['host/lab/a', 'lab/a', false],
    ['host/host/a', 'default', true],
  ])('on the node host: in %s, denied in %s, may be called: %s', (namespace, deniedIn, may) => {
    const owner = { node: { name: 'host', id: '1' } } as Session;
    const denying = new Policies();
    denying.deny(deniedIn, { functions: ['a::b'], permissions: [], risks: [] });
    expect(denying.byDenials({ id: 'a::b', namespace, owner }).verdict === 'allow').toBe(may);
  });
});
