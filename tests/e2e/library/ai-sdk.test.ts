/** The functions as tools of the AI SDK, in the hands of its mock model. */
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { expect, test } from 'vitest';

import { workcellTools } from '#ai-sdk';
import { createWorkcell } from '#library';
import { tempDir } from '../../../src/testing/temp-dir.ts';

type Step = { tool: string; input: unknown } | { text: string };

/** A scripted model: returns the given steps, one after the other. */
function scriptedModel(...steps: Step[]) {
  return new MockLanguageModelV3({
    doGenerate: steps.map((step, at) => ({
      content:
        'text' in step
          ? [{ type: 'text', text: step.text }]
          : [{ type: 'tool-call', toolCallId: `call-${at}`, toolName: step.tool, input: JSON.stringify(step.input) }],
      finishReason: { unified: 'text' in step ? 'stop' : 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      },
      warnings: [],
    })),
  });
}

/** The results that the model got for its tool calls, in order. */
function toolOutputs(model: MockLanguageModelV3): unknown[] {
  const prompt = model.doGenerateCalls.at(-1)!.prompt;
  return prompt.flatMap((message) =>
    message.role === 'tool' ? message.content.map((part) => 'output' in part && part.output) : [],
  );
}

test('library.P3 a model edits a file with them and reads what it did', async () => {
  await using dir = await tempDir({ 'notes.md': '# notes\n- one\n' });
  await using cell = await createWorkcell({ workspace: dir.root });
  const model = scriptedModel(
    {
      tool: 'coder_update_file',
      input: { files: [{ path: 'notes.md', ops: [{ op: 'insert', at_line: 3, content: '- two' }] }] },
    },
    { tool: 'shell_exec', input: { command: 'cat', args: ['notes.md'] } },
    { text: 'done' },
  );
  const { text, steps } = await generateText({
    model,
    tools: await workcellTools(cell),
    stopWhen: stepCountIs(5),
    prompt: 'Add a second item.',
  });

  expect(text).toBe('done');
  expect(steps[1]!.toolResults[0]!.output).toMatchObject({ exit_code: 0, stdout: '# notes\n- one\n- two\n' });
  expect(toolOutputs(model)[1]).toEqual({
    type: 'text',
    value: expect.stringContaining('stdout:\n# notes\n- one\n- two\n'),
  });
});

test('library.P3 a failure reaches the model with its code and what to do', async () => {
  await using dir = await tempDir();
  await using cell = await createWorkcell({ workspace: dir.root });
  const model = scriptedModel(
    { tool: 'coder_read_file', input: { path: 'none.md' } },
    { tool: 'filesystem_read', input: { path: 'none.md' } },
    { text: 'sorry' },
  );
  await generateText({ model, tools: await workcellTools(cell), stopWhen: stepCountIs(5), prompt: 'Read none.md.' });

  expect(toolOutputs(model)).toEqual([
    { type: 'error-text', value: 'C211: none.md does not exist or is protected' },
    { type: 'error-text', value: expect.stringMatching(/^success: false\n/) },
  ]);
});

test('a long result is cut for the model and whole for the program', async () => {
  const long = 'line\n'.repeat(20_000);
  await using dir = await tempDir({ 'long.txt': long });
  await using cell = await createWorkcell({ workspace: dir.root });
  const model = scriptedModel({ tool: 'coder_read_file', input: { path: 'long.txt' } }, { text: 'read' });
  const { steps } = await generateText({
    model,
    tools: await workcellTools(cell),
    stopWhen: stepCountIs(5),
    prompt: 'Read.',
  });

  expect(steps[0]!.toolResults[0]!.output).toMatchObject({ content: long });
  const [reported] = toolOutputs(model) as [{ value: string }];
  expect(reported.value).toMatch(/\n… cut after \d+ of \d+ bytes$/);
  expect(reported.value.length).toBeLessThan(40_000);
});

test('aborting the generation stops the command', async () => {
  await using dir = await tempDir();
  await using cell = await createWorkcell({
    workspace: dir.root,
    workers: [{ name: 'shell', config: { allowlist: ['sleep'] } }],
  });
  const { shell_exec: exec } = await workcellTools(cell);
  const giveUp = new AbortController();
  const input = { command: 'sleep', args: ['1000'] };
  const running = exec.execute!(input, { toolCallId: '1', messages: [], abortSignal: giveUp.signal });
  giveUp.abort();
  await expect(running).rejects.toThrow('CANCELLED');
});

test.each([
  ['only a worker', { only: ['coder'] }, ['coder_apply_patch', 'coder_checkpoint', 'coder_checkpoints']],
  [
    'only what reads',
    { only: ['coder'], readOnly: true },
    ['coder_checkpoints', 'coder_list_folder', 'coder_read_file'],
  ],
])('offers %s', async (_, options, firstNames) => {
  await using dir = await tempDir();
  await using cell = await createWorkcell({ workspace: dir.root });
  expect(Object.keys(await workcellTools(cell, options)).slice(0, 3)).toEqual(firstNames);
});
