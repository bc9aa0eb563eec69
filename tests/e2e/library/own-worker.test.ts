/** A worker of the program inside `createWorkcell`, and the types of the tools for the AI SDK. */
import type { Tool, ToolSet } from 'ai';
import { expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

import { defineErrors, defineWorker } from '#contract';
import { createWorkcell, type RequestOf, type ResponseOf } from '#library';
import { tempDir } from '#testing';
import { workcellTools, type ToolName, type WorkcellTools } from '#ai-sdk';

const errors = defineErrors({ X1: { meaning: 'broken', http: 500, message: (_: object) => 'broken' } });
const fail = () => errors.fail('X1', {});
const base = defineWorker({
  name: 'notes',
  summary: 'Stores notes.',
  config: z.strictObject({ limit: z.int().default(100) }),
  errors,
  failures: { badInput: fail, internal: fail, deadline: fail },
  open: ({ limit }) => ({ limit, notes: [] as string[] }),
});
const notes = base.withFunctions([
  base.defineFunction({
    id: 'notes::add-one',
    summary: 'Adds a note.',
    effect: 'write',
    permissions: [],
    request: z.object({ text: z.string() }),
    response: z.object({ count: z.int(), left: z.int() }),
    errors: ['X1'],
    examples: [],
    handle: ({ text }, context) => {
      const count = context.notes.push(text);
      return { count, left: context.limit - count };
    },
  }),
]);

test('cli.C14 a worker of the program is called by its types, as a function and as a tool', async () => {
  await using dir = await tempDir();
  await using cell = await createWorkcell({
    workspace: dir.root,
    workers: [{ name: 'coder' }],
    ownWorkers: [{ def: notes, config: { limit: 3 } }],
  });
  const { left } = await cell.call('notes::add-one', { text: 'a' });
  expectTypeOf(left).toEqualTypeOf<number>();
  expect(left).toBe(2);
  // @ts-expect-error: a text is a string
  await expect(cell.call('notes::add-one', { text: 1 })).rejects.toMatchObject({ code: 'X1' });

  const tools = await workcellTools(cell);
  expectTypeOf(tools.notes_add_one).toEqualTypeOf<Tool<{ text: string }, { count: number; left: number }>>();
  const output = await tools.notes_add_one.execute!({ text: 'b' }, { toolCallId: '1', messages: [] });
  expect(output).toEqual({ count: 2, left: 1 });
});

test('cli.C14 a worker of the program is refused with a wrong key, or a name that is taken', async () => {
  await using dir = await tempDir();
  const config = { limt: 1 } as object;
  const wrong = createWorkcell({ workspace: dir.root, workers: [], ownWorkers: [{ def: notes, config }] });
  await expect(wrong).rejects.toThrow('ownWorkers.notes: unknown key "limt" (did you mean "limit"?)');
  const twice = createWorkcell({ workspace: dir.root, workers: [], ownWorkers: [{ def: notes }, { def: notes }] });
  await expect(twice).rejects.toThrow('ownWorkers: a worker notes is there already');
  const typed = () =>
    // @ts-expect-error: the limit is a number
    createWorkcell({ workspace: dir.root, ownWorkers: [{ def: notes, config: { limit: 'many' } }] });
  await expect(typed()).rejects.toThrow('ownWorkers.notes');
});

test('cli.C15 the tools have the names and types of their functions', () => {
  expectTypeOf<ToolName<'sandbox::fs::ls'>>().toEqualTypeOf<'sandbox_fs_ls'>();
  type ReadFile = Tool<RequestOf<'coder::read-file'>, ResponseOf<'coder::read-file'>>;
  expectTypeOf<WorkcellTools['coder_read_file']>().toEqualTypeOf<ReadFile>();
  expectTypeOf<WorkcellTools>().toExtend<ToolSet>();
  expectTypeOf<WorkcellTools>().not.toHaveProperty('coder_raed_file');
});

test('cli.C15 `only` is in the type, and `readOnly` leaves the names to run time', async () => {
  await using dir = await tempDir();
  await using cell = await createWorkcell({ workspace: dir.root });
  const few = await workcellTools(cell, { only: ['coder::read-file', 'coder_tree', 'shell'] });
  expectTypeOf(few).toHaveProperty('coder_read_file');
  expectTypeOf(few).toHaveProperty('coder_tree');
  expectTypeOf(few).toHaveProperty('shell_exec');
  expectTypeOf(few).not.toHaveProperty('coder_search');
  expect(Object.keys(few)).toEqual(expect.arrayContaining(['coder_read_file', 'coder_tree', 'shell_exec']));
  expect(Object.keys(few)).not.toContain('coder_search');
  expectTypeOf(await workcellTools(cell, { readOnly: true })).toEqualTypeOf<ToolSet>();
});
