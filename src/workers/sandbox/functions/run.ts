/**
 * sandbox::run: runs code in a new sandbox and returns its output.
 *
 * A failure names the step and keeps the code of its failure.
 */
import { Readable } from 'node:stream';

import { z } from 'zod';

import { COMMAND_NOTES, Failure, wire, type CallScope } from '#contract';
import { OutputEvent } from '#job-functions';
import { createSandbox, MODEL_DEFAULTS, shapeFields } from '../create-sandbox.ts';
import { EnvShape, readEnv } from '../environment.ts';
import { execute, replyFields } from '../commands/execute.ts';
import { decodeStdin } from '../commands/guest-command.ts';
import { interpreterOf } from '../languages.ts';
import type { LiveSandbox } from '../live/live-sandbox.ts';
import { LONG_CALL_MS } from '../long-deadline.ts';
import { ImageEvent } from '../image-event.ts';
import { translate } from '../translate.ts';
import { sandbox } from '../worker.ts';

const RunFile = wire.named(
  'RunFile',
  z.object({
    path: z.string().describe('Path in the sandbox; missing directories are created.'),
    content: z.string().describe('Text, written as UTF-8.'),
  }),
);

export const run = sandbox.defineFunction({
  id: 'sandbox::run',
  summary: 'Run code in a new sandbox and return its output; the sandbox is stopped afterwards.',
  details: 'The same as create, write, exec and stop in one call. Takes every field of sandbox::create as well.',
  effect: 'execute',
  permissions: ['sandbox.run'],
  isDestructive: false,
  modelDefaults: MODEL_DEFAULTS,
  request: z
    .object({
      image: z.string().describe('Name from sandbox::catalog::list.'),
      code: z.string().describe('The code; it is written to /tmp/run.<ext>.'),
      lang: z
        .string()
        .describe(
          'node, python, shell (bash where the image has it, else sh), or the path of a program that is given the file.',
        ),
      files: z.array(RunFile).optional().describe('More files, written before the code.'),
      env: EnvShape.optional().describe('Environment: ["K=V"] or {"K": "V"}.'),
      stdin: z.string().nullable().default(null).describe('Standard input, in base64.'),
      timeout_ms: wire
        .uint64()
        .nullable()
        .default(null)
        .describe('Timeout in milliseconds, then it is killed; default 300000.'),
      keep_sandbox: z.boolean().default(false).describe('Keep the sandbox; the reply then has its id.'),
      workdir: z.string().nullable().optional().describe('Working directory.'),
      ...shapeFields,
    })
    .meta({ title: 'RunRequest' }),
  response: z
    .object({ ...replyFields, sandbox_id: z.string().nullish().describe('Only with keep_sandbox.') })
    .meta({ title: 'RunResponse' }),
  events: z.union([ImageEvent, OutputEvent]),
  reads: { line: ['image', 'lang', 'code'], notes: COMMAND_NOTES },
  errors: [
    'S001',
    'S003',
    'S100',
    'S101',
    'S102',
    'S200',
    'S210',
    'S211',
    'S212',
    'S213',
    'S215',
    'S216',
    'S300',
    'S400',
  ],
  examples: [{ image: 'python', lang: 'python', code: 'print(6 * 7)' }],
  deadlineMs: LONG_CALL_MS,

  async handle(request, context, scope) {
    const { code, lang, files = [], stdin, timeout_ms: timeoutMs, keep_sandbox: isKept, workdir = null } = request;
    const { command, file } = interpreterOf(lang);
    const env = readEnv(request.env);
    decodeStdin(stdin);

    const made = await during('create', '', () => createSandbox(request, context, scope));
    const { id } = made.facts;
    try {
      for (const { path, content } of files) {
        await during('fs::write (sibling file)', id, () => writeText(made, { path, content }, scope));
      }
      await during('fs::write (code)', id, () => writeText(made, { path: file, content: code }, scope));
      const execution = { argv: [...command, file], env, stdin, timeoutMs, workdir };
      const reply = await during('exec', id, () => execute(made, execution, context, scope));
      return isKept ? { ...reply, sandbox_id: id } : reply;
    } finally {
      if (!isKept || scope.signal.aborted) await context.sandboxes.stop(made, 'sandbox::run was done with it');
    }
  },
});

function writeText(
  made: LiveSandbox,
  { path, content }: z.output<typeof RunFile>,
  { signal }: Pick<CallScope, 'signal'>,
): Promise<unknown> {
  const bytes = Readable.from([Buffer.from(content)]);
  return made.files.write(path, bytes, { mode: 0o644, parents: true }, { signal });
}

async function during<T>(context: string, sandboxId: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const inner = thrown instanceof Failure ? thrown : translate(thrown);
    if (!inner) throw thrown;
    const { code, message, extra } = inner;
    const where = { context: `sandbox::run step ${context}`, sandbox_id: sandboxId, inner_code: code };
    const prefixed = `during sandbox::run step \`${context}\` (sandbox_id=${sandboxId}): ${message}`;
    throw new Failure({ code, message: prefixed, extra: { ...extra, ...where } }, inner);
  }
}
