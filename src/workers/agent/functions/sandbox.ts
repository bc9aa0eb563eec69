/**
 * agent::sandbox: runs a command line in a fresh machine with only the given files.
 *
 * The machine is stopped when the call ends, whatever happened in it.
 */
import { z } from 'zod';

import { wire, type CallScope } from '#contract';
import { changeNumber } from '../change-number.ts';
import { copyIn, filesToCopy, WORK } from '../sandboxes/files-in.ts';
import { bringOut, pathsToBring } from '../sandboxes/files-out.ts';
import { errors } from '../errors.ts';
import { shortened } from '../shortened.ts';
import { quoted, someOf } from '../text-lines.ts';
import { agent, type AgentContext } from '../worker.ts';

const DEADLINE_MS = 1_800_000;
const MAX_WAIT_S = 600;
const CREATE_MS = 900_000;
/** Answers that the image is being made before the model's client times out, which is often after a minute. */
const PATIENCE_MS = 20_000;
const GRACE_MS = 15_000;
/** Most file names in a reply. */
const MOST_NAMES = 20;

const Made = z.object({ sandbox_id: z.string() });
const Ran = z.object({
  stdout: z.string(),
  stderr: z.string(),
  stdout_truncated: z.boolean().optional(),
  exit_code: z.int().nullish(),
  egress_refused: z.array(z.object({ host: z.string(), reason: z.string() })).optional(),
});

/** Package managers by image. */
const INSTALLERS: readonly { image: RegExp; line: string }[] = [
  { image: /python/, line: 'pip install -q --disable-pip-version-check --root-user-action=ignore --retries 1 "$@"' },
  { image: /node/, line: 'npm install --no-audit --no-fund --loglevel=error "$@"' },
];

export const sandbox = agent.defineFunction({
  id: 'agent::sandbox',
  summary:
    'Run a command line in a fresh machine, for untrusted code. It sees only `files`, in its working folder; `bring` is copied back.',
  effect: 'execute',
  permissions: ['sandbox.run', 'fs.read', 'fs.write'],
  subject: { paths: [], line: 'command' },
  calls: [
    'sandbox::create',
    'sandbox::exec',
    'sandbox::stop',
    'sandbox::fs::mkdir',
    'sandbox::fs::write',
    'sandbox::fs::read',
  ],
  deadlineMs: DEADLINE_MS,
  request: z.object({
    command: z.string().min(1),
    image: z.string().describe('Like python or node.'),
    files: z.array(z.string()).optional().describe('Paths, folders or globs.'),
    install: z.array(z.string()).optional().describe('Packages, by network.'),
    bring: z.array(z.string()).optional().describe('Files to copy back: paths or globs.'),
    network: z.boolean().optional().describe('Default false.'),
    timeout_s: wire.uint32().min(1).max(MAX_WAIT_S).default(120),
  }),
  response: z.object({
    exit_code: wire.int32().optional(),
    output: z.string().describe('Output of both streams, shortened if it is long.'),
    failed_step: z
      .enum(['install'])
      .optional()
      .describe('Set if the packages could not be installed; the command did not run.'),
    change: changeNumber,
    brought: z.array(z.object({ path: z.string(), bytes: wire.uint64() })),
    missing: z.array(z.string()).describe('`bring` paths that do not exist in the sandbox.'),
    refused: z.array(z.object({ host: z.string(), reason: z.string() })).describe('Hosts that it may not reach.'),
  }),
  reads: {
    line: ['image', 'command'],
    notes: [
      { field: 'failed_step', says: '{} failed' },
      { field: 'exit_code', says: 'exit {}' },
    ],
  },
  errors: ['A210', 'A211', 'A213', 'A215', 'A216'],
  examples: [{ image: 'python', command: 'python3 -c "print(6 * 7)"' }],

  async handle(request, context, scope) {
    const { image, network, files = [], install = [], bring = [] } = request;
    // Opened before the files are written: a session numbers the changes since its begin.
    const session = context.sessions.of(scope.call);
    const needsNetwork = network === true || install.length > 0;
    const patience = scope.door === 'model' ? { patience_ms: PATIENCE_MS } : {};
    const options = { timeoutMs: CREATE_MS, signal: scope.signal, ...(scope.emit && { onEvent: scope.emit }) };
    const wanted = { image, network: needsNetwork, ...patience };
    const around = { context, scope };
    const installer = install.length > 0 ? installArgv(image, install) : undefined;
    const paths = await filesToCopy(files, around);
    const wantedOut = pathsToBring(bring, context);
    const { sandbox_id: id } = Made.parse(await scope.bus.call('sandbox::create', wanted, options));
    try {
      await scope.bus.call('sandbox::fs::mkdir', { sandbox_id: id, path: WORK, parents: true });
      await copyIn(id, paths, around);
      const installed = installer && (await runIn(id, installer, MAX_WAIT_S, scope));
      if (installed && installed.exit_code !== 0) return { ...reported(installed, around), ...NOT_INSTALLED };

      const ran = await runIn(id, ['sh', '-c', SHELL, 'sh', request.command], request.timeout_s, scope);
      const { seq, versions, ...brought } = bring.length > 0 ? await bringOut(id, wantedOut, around) : NO_FILES;
      for (const { path, version } of versions) session.sawVersion(path, version);
      const change = session.numberOf(seq);
      return {
        ...reported(ran, around),
        ...(change !== undefined && { change }),
        brought: brought.files,
        missing: brought.missing,
      };
    } finally {
      await scope.bus.call('sandbox::stop', { sandbox_id: id }).catch(() => {});
    }
  },

  text({ exit_code, output, failed_step, change, brought, missing, refused }) {
    const names = someOf(
      brought.map(({ path, bytes }) => `${quoted(path)} (${bytes} bytes)`),
      MOST_NAMES,
    );
    return [
      ...(failed_step === undefined ? [] : ['the packages could not be installed; the command did not run']),
      ...(exit_code === 0 ? [] : [`exit ${exit_code ?? 'by a signal'}`]),
      output === '' ? '(no output)' : output,
      ...refused.map(({ host, reason }) => `refused: ${host}: ${reason}`),
      ...(names === '' ? [] : [`brought back${change === undefined ? '' : ` as change ${change}`}: ${names}`]),
      ...(missing.length === 0 ? [] : [`not there: ${someOf(missing, MOST_NAMES)}`]),
    ].join('\n');
  },
});

const NOT_INSTALLED = { brought: [], missing: [], failed_step: 'install' as const };
const NO_FILES = { seq: undefined, files: [], missing: [], versions: [] };

/** Uses bash if the image has it. Both streams are merged in the order they are written. */
const SHELL = 'exec 2>&1; if command -v bash >/dev/null 2>&1; then exec bash -c "$1"; fi; eval "$1"';

function installArgv(image: string, packages: readonly string[]): string[] {
  const installer = INSTALLERS.find((one) => one.image.test(image));
  if (!installer) {
    throw errors.fail('A210', {
      problem: `install works with images of python and node; in ${image} install by command`,
    });
  }
  return ['sh', '-c', `exec 2>&1; ${installer.line}`, 'sh', ...packages];
}

async function runIn(id: string, argv: string[], timeoutS: number, { bus, signal }: CallScope) {
  const timeoutMs = timeoutS * 1000;
  const request = { sandbox_id: id, argv, workdir: WORK, timeout_ms: timeoutMs };
  return Ran.parse(await bus.call('sandbox::exec', request, { timeoutMs: timeoutMs + GRACE_MS, signal }));
}

function reported(
  { stdout, stderr, stdout_truncated, exit_code, egress_refused = [] }: z.output<typeof Ran>,
  { context, scope }: { context: AgentContext; scope: CallScope },
) {
  const text = `${stdout}${stdout_truncated ? '\n(the sandbox keeps the first MiB of output; there was more)\n' : ''}${stderr}`;
  const keep = () => context.sessions.of(scope.call).keepOutput(text);
  return {
    ...(exit_code != null && { exit_code }),
    output: shortened(text, { maxChars: context.replyChars, keep }),
    refused: egress_refused,
  };
}
