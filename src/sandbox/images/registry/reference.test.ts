import { expect, test } from 'vitest';

import { parseReference, spellReference } from './reference.ts';

const digest = `sha256:${'a'.repeat(64)}`;

test.each([
  ['python', 'docker.io/library/python:latest'],
  ['iiidev/python', 'docker.io/iiidev/python:latest'],
  ['docker.io/iiidev/python:3', 'docker.io/iiidev/python:3'],
  ['index.docker.io/library/node', 'docker.io/library/node:latest'],
  ['localhost/mine', 'localhost/mine:latest'],
  ['127.0.0.1:5000/a/b_c-d.e:v1', '127.0.0.1:5000/a/b_c-d.e:v1'],
  ['[::1]:5000/a', '[::1]:5000/a:latest'],
  ['ghcr.io/org/name', 'ghcr.io/org/name:latest'],
  [`ghcr.io/org/name:v2@${digest}`, `ghcr.io/org/name@${digest}`],
])('spells %s in full', (text, full) => {
  expect(spellReference(parseReference(text))).toBe(full);
  expect(spellReference(parseReference(full))).toBe(full);
});

test.each([
  '',
  'host.example/UPPER',
  'a b',
  'a:',
  'a@sha256:short',
  `a@${digest}@${digest}`,
  'host.example/../up',
  'host.example/a//b',
  'user@host.example/a',
  'http://host.example/a',
  `host.example/${'a'.repeat(300)}`,
])('refuses "%s"', (text) => {
  expect(() => parseReference(text)).toThrow(/is not an image reference/);
});
