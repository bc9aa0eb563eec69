import { expect, test } from 'vitest';
import { z } from 'zod';

import { silentLog } from '#contract';
import { agentCell, tester } from '#testing';

test('agent.C21 the other functions: their names, their fields, and a call', async () => {
  await using cell = await agentCell({ 'a.txt': 'one\n' });
  const names = await cell.text('more');
  expect(names).toContain('coder:: apply-patch, checkpoint');
  expect(names).not.toContain('agent::');
  expect(await cell.text('more', { function: 'coder::list-folder' })).toContain('- path?: string');
  const args = { path: 'a.txt', line_from: 1 };
  expect(await cell.text('more', { function: 'coder::read-file', args })).toContain('content:\none');
  expect(await cell.text('more', { function: 'coder::raed-file' })).toContain('did you mean "coder::read-file"?');
  expect(await cell.text('more', { function: 'coder::tree', args: { depth: 1 } })).toContain(
    'did you mean `max_depth`?',
  );
  expect(await cell.text('more', { function: 'filesystem::read', args: { path: 'b.txt' } })).toMatch(/^F211: /);
  const files = [{ path: 'a.txt', content: '' }];
  expect(await cell.text('more', { function: 'coder::create-file', args: { files } })).toMatch(/^FAILED|C217/);
});

test('agent.C21 functions of foreign workers are reached too, in the name of the caller', async () => {
  await using cell = await agentCell();
  cell.bus.serve({ def: tester, context: await tester.open({}, silentLog) });
  await cell.bus.call('engine::workers::list');
  expect(await cell.text('more')).toContain('tester:: ask');
  const { reply } = await cell.call('more', { function: 'tester::who', args: {} }, { name: 'two' });
  const { result } = z.object({ result: z.object({ principal: z.object({ id: z.string() }) }) }).parse(reply);
  expect(result.principal.id).toBe('local:two');
});
