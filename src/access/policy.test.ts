import { expect, test } from 'vitest';

import { parseConfig, type Subject } from '#contract';
import { accessConfig } from './config.ts';
import { Policy, policyNamed } from './policy.ts';
import type { CallFacts } from './rule.ts';
import { SHIPPED_POLICIES } from './shipped.ts';
import { subjectOf } from './subject.ts';

const WORKSPACE = '/home/dev/app';

interface Known {
  effect: string;
  permissions: string[];
  subject?: Subject;
}

const FUNCTIONS: Record<string, Known> = {
  'coder::read-file': { effect: 'read', permissions: ['fs.read'], subject: { paths: ['path'] } },
  'coder::create-file': { effect: 'write', permissions: ['fs.write'], subject: { paths: ['files[].path'] } },
  'coder::apply-patch': {
    effect: 'delete',
    permissions: ['fs.read', 'fs.write'],
    subject: { paths: [], opaque: ['patch'] },
  },
  'shell::exec': {
    effect: 'execute',
    permissions: ['process.run'],
    subject: { program: 'command', line: 'script' },
  },
  'coder::search': { effect: 'read', permissions: ['fs.read'], subject: { trees: ['path'] } },
  'shell::list': { effect: 'read', permissions: ['process.read'] },
};

function factsOf(id: string, payload: unknown = {}): CallFacts | undefined {
  const known = FUNCTIONS[id];
  return known && { id, namespaces: ['default'], ...known, ...subjectOf(known.subject, payload, WORKSPACE) };
}

function policy(rules: unknown): Policy {
  const { policies } = parseConfig(accessConfig, { policies: { p: rules } }, 'access');
  return new Policy('p', policies.p!, { factsOf });
}

function verdict(of: Policy, id: string, payload: unknown = {}): string {
  return of.decide(factsOf(id, payload)!).verdict;
}

const review = policy([
  { allow: { effect: 'read' } },
  { ask: { permission: 'fs.write', paths: ['src/**'] }, reason: 'writes are reviewed' },
  { deny: { function: 'shell::*' }, reason: 'reviewers run nothing' },
]);

test('the last matching rule decides, and a call without a matching rule is denied', () => {
  expect(verdict(review, 'coder::read-file', { path: 'src/a.ts' })).toBe('allow');
  expect(verdict(review, 'coder::create-file', { files: [{ path: 'src/a.ts' }] })).toBe('ask');
  expect(verdict(review, 'coder::create-file', { files: [{ path: 'docs/a.md' }] })).toBe('deny');
  expect(verdict(review, 'shell::list')).toBe('deny');
  expect(review.decide(factsOf('shell::exec', { command: 'ls' })!)).toEqual({
    verdict: 'deny',
    rule: 'p[2]: deny function shell::*',
    reason: 'reviewers run nothing',
  });
});

const written = (...paths: string[]) => ({ files: paths.map((path) => ({ path })) });

test.each([
  ['inside', written('src/a.ts', 'src/deep/b.ts'), 'allow'],
  ['absolute inside', written(`${WORKSPACE}/src/a.ts`), 'allow'],
  ['one outside', written('src/a.ts', 'docs/a.md'), 'deny'],
  ['climbing out', written('src/../docs/a.md'), 'deny'],
  ['climbing out of the workspace and naming it again', written('../app/src/a.ts'), 'allow'],
  ['beside the workspace', written('../app2/src/a.ts'), 'deny'],
  ['the root itself', written('.'), 'deny'],
  ['no path at all', {}, 'deny'],
  ['a path that is not text', { files: [{ path: ['src/a.ts'] }] }, 'deny'],
  ['a single file in place of a list', { files: { path: 'src/a.ts' } }, 'allow'],
])('an allowing rule holds only if every path matches: %s', (_, payload, expected) => {
  const only = policy([{ allow: { paths: 'src/**' } }]);
  expect(verdict(only, 'coder::create-file', payload)).toBe(expected);
});

test.each([
  ['one of two paths', 'coder::create-file', written('docs/a.md', 'secret/a'), 'deny'],
  ['a path with dots', 'coder::create-file', written('docs/../secret/a'), 'deny'],
  ['paths inside a patch', 'coder::apply-patch', { patch: '*** Begin Patch' }, 'deny'],
  ['another path', 'coder::create-file', written('docs/a.md'), 'allow'],
  ['a function that has no paths', 'shell::list', {}, 'allow'],
])('a denying rule holds if one path matches or the paths are unknown: %s', (_, id, payload, expected) => {
  const but = policy([{ allow: {} }, { deny: { paths: ['secret/**'] } }]);
  expect(verdict(but, id, payload)).toBe(expected);
});

test.each([
  ['.', 'deny', 'deny'],
  ['src', 'allow', 'deny'],
  ['src/deep', 'allow', 'allow'],
  ['src/secret', 'allow', 'deny'],
  ['src/secret/more', 'allow', 'deny'],
  ['lib', 'deny', 'allow'],
  ['..', 'deny', 'deny'],
  ['/', 'deny', 'deny'],
  [undefined, 'deny', 'deny'],
])('a call about a folder concerns everything below it: %s', (path, allowing, denying) => {
  expect(verdict(policy([{ allow: { paths: 'src/**' } }]), 'coder::search', { path })).toBe(allowing);
  const but = policy([{ allow: {} }, { deny: { paths: 'src/secret/**' } }]);
  expect(verdict(but, 'coder::search', { path })).toBe(denying);
});

test.each([
  [{ command: 'git status' }, 'allow', 'deny'],
  [{ command: 'git', args: ['push'] }, 'allow', 'deny'],
  [{ command: './git' }, 'deny', 'deny'],
  [{ command: '/tmp/git', args: [] }, 'deny', 'deny'],
  [{ command: 'gitk' }, 'deny', 'allow'],
  [{ command: '', script: 'git push origin main' }, 'allow', 'deny'],
  [{ command: '', script: 'git push; rm -r .' }, 'deny', 'deny'],
  [{ command: '', script: 'git $(rm a)' }, 'deny', 'deny'],
  [{ command: '', script: 'git\nrm a' }, 'deny', 'deny'],
  [{ command: '', script: 'PATH=/tmp git' }, 'deny', 'deny'],
  [{ command: 'git', script: 'rm a' }, 'deny', 'allow'],
  [{ command: '"git' }, 'deny', 'deny'],
  [{}, 'deny', 'deny'],
  [{ command: 7 }, 'deny', 'deny'],
])('a program is allowed as written, and denied by its last name: %j', (payload, allowing, denying) => {
  expect(verdict(policy([{ allow: { program: 'git' } }]), 'shell::exec', payload)).toBe(allowing);
  expect(verdict(policy([{ allow: {} }, { deny: { program: 'git' } }]), 'shell::exec', payload)).toBe(denying);
});

test('an allow rule by permission has to cover every permission of the function', () => {
  const reading = policy([{ allow: { permission: 'fs.read' } }]);
  expect(verdict(reading, 'coder::read-file', { path: 'a' })).toBe('allow');
  expect(verdict(reading, 'coder::apply-patch', { patch: '' })).toBe('deny');
});

test('a rule by effect or permission never allows an undeclared function, and denies it', () => {
  const foreign: CallFacts = { id: 'math::add', namespaces: ['default'] };
  for (const matcher of [{ effect: 'read' }, { permission: '*' }]) {
    expect(policy([{ allow: matcher }]).decide(foreign).verdict).toBe('deny');
    expect(policy([{ allow: {} }, { deny: matcher }]).decide(foreign).verdict).toBe('deny');
  }
  expect(policy([{ allow: { function: 'math::*' } }]).decide(foreign).verdict).toBe('allow');
});

test.each([
  ['coder::*', 'coder::read-file', true],
  ['*::read-*', 'coder::read-file', true],
  ['coder', 'coder::read-file', false],
  ['coder::read', 'coder::read-file', false],
  ['*a*a*', 'aa', true],
  ['*ab*ab*', 'ab', false],
  ['coder::read.file', 'coder::read-file', false],
])('a glob over ids: %s and %s', (glob, id, expected) => {
  expect(policy([{ allow: { function: glob } }]).rules[0]!.matches({ id, namespaces: ['default'] })).toBe(expected);
});

test('examples are checked at the start', () => {
  const rule = { allow: { effect: 'read' } };
  expect(() => policy([{ ...rule, match: ['coder::read-file'], not_match: ['shell::exec'] }])).not.toThrow();
  expect(() => policy([{ ...rule, match: ['shell::exec'] }])).toThrow(
    'access.policies.p[0].match[0]: the rule does not match "shell::exec"',
  );
  expect(() => policy([{ ...rule, not_match: [{ function: 'coder::read-file' }] }])).toThrow(
    'not_match[0]: the rule matches',
  );
  expect(() => policy([{ ...rule, match: ['coder::nosuch'] }])).toThrow('no function "coder::nosuch"');
});

test.each([
  [[{ allow: {}, deny: {} }], 'exactly one of allow, ask and deny'],
  [[{ reason: 'x' }], 'exactly one of allow, ask and deny'],
  [[{ allow: { functions: 'a' } }], 'functions'],
  [[{ allow: { effect: 'reed' } }], 'effect'],
  [[{ deny: { paths: ['src/{a'] } }], 'access.policies.p[0].deny.paths'],
])('an invalid rule is refused: %j', (rules, expected) => {
  expect(() => policy(rules)).toThrow(expected);
});

test('shipped policies are policies like any other', () => {
  const all = new Map(Object.entries(SHIPPED_POLICIES).map(([name, rules]) => [name, new Policy(name, rules)]));
  expect(policyNamed('look', all, 'access.local').decide(factsOf('shell::exec')!).verdict).toBe('deny');
  expect(policyNamed('coding', all, 'access.local').decide(factsOf('shell::exec')!).verdict).toBe('allow');
  expect(() => policyNamed('read_only', all, 'access.local')).toThrow('did you mean "read-only"');
});
