/** A test of commander.js, whose package has none. */
export const COMMANDER_TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command, Option } from '../esm.mjs';
test('suggests a similar command', () => {
  let said = '';
  const program = new Command().exitOverride().configureOutput({ writeErr: (text) => void (said += text) });
  program.command('install').action(() => {});
  assert.throws(() => program.parse(['instal'], { from: 'user' }));
  assert.match(said, /Did you mean install/);
});
test('options have attribute names', () => assert.equal(new Option('--dry-run').attributeName(), 'dryRun'));
`;
