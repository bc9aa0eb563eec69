/** workcell policy explain: whether a call is allowed, which key or rule decided, and how to change that. */
import { resolve } from 'node:path';

import { policyNamed, type Access } from '#access';
import {
  availableWorkers,
  decisive,
  explainCall,
  findConfigFile,
  parseEntries,
  presetEntries,
  readApps,
  readConfigFile,
  shippedFunction,
  withApps,
  type Check,
  type WorkerEntry,
} from '#assembly';
import { ConfigError } from '#contract';
import { toPayload } from '../../call-arguments.ts';
import { valueOption, type Command, type CommandInput } from '../../command.ts';
import { text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { parsePreset, presetOptions } from '../../preset-options.ts';
import { printReply } from '../../print.ts';
import { accessOptions, readAccess } from './access-options.ts';

export const policyExplain: Command = {
  name: 'policy explain',
  summary: 'Say whether a call is allowed, asked about or denied, and by which rule.',
  usage: 'FUNCTION [KEY=VALUE…]',
  details:
    'Checks everything that decides: --tools and --read-only of workcell mcp, apps and presets, the policy, protect, and\n' +
    'the fence, allowlist and rules of shell. Without --policy and --token it explains the policy of callers without a\n' +
    'token.',
  options: {
    policy: valueOption('NAME', 'Explain this policy.'),
    token: valueOption('NAME', 'Explain the policy of this token.'),
    payload: valueOption('JSON', 'The request; KEY=VALUE pairs override it.'),
    workspace: valueOption('DIR', 'Directory that paths count from, default the current one.'),
    app: valueOption('FILE', 'App file, as for start.', { multiple: true }),
    tools: valueOption('LIST', 'Workers or functions, as for mcp.'),
    'read-only': { type: 'boolean', description: 'Explain a call through workcell mcp --read-only.' },
    ...presetOptions,
    json: { type: 'boolean', description: 'Print JSON.' },
    ...accessOptions,
  },
  examples: [
    'workcell policy explain shell::exec command="git push" --policy read-only',
    'workcell policy explain coder::delete-file --token ci',
    'workcell policy explain coder::create-file --app reviewer.yaml',
  ],
  minWords: 1,

  async run({ words: [id = '', ...pairs], options }) {
    const { access } = readAccess(options);
    const policy = policyAsked(options, access);
    const fn = shippedFunction(id) ?? { id, namespace: 'default' };
    const payload = toPayload(pairs, text(options.payload));
    const only = text(options.tools)?.split(',');
    const grants = { policy, isReadOnly: options['read-only'] === true, ...(only && { only }) };
    const checks = await explainCall(fn, payload, { access, grants, ...(await readSource(options)) });
    const decided = decisive(checks);
    const isKnown = fn.metadata !== undefined;
    printReply(options, { function: id, policy, ...decided, known: isKnown, checks }, () =>
      [
        `${decided.verdict}  ${id}`,
        ...linesOf(decided),
        ...checks.filter((check) => check !== decided).map(({ verdict, rule }) => `  also    ${verdict} by ${rule}`),
        ...(isKnown ? [] : [`  note    no worker of this build has ${id}: what it declares is unknown here`]),
        '',
      ].join('\n'),
    );
    return EXIT.ok;
  },
};

function linesOf({ rule, reason, change }: Check): string[] {
  return [`  rule    ${rule}`, ...(reason === undefined ? [] : [`  reason  ${reason}`]), `  change  ${change}`];
}

/** The workers that `start` would run, and the source of that choice. */
async function readSource(options: CommandInput['options']): Promise<{ entries: WorkerEntry[]; source: string }> {
  const file = findConfigFile(text(options.config));
  const workspace = resolve(text(options.workspace) ?? process.cwd());
  const preset = await parsePreset(options, { file, workspace });
  const entries = preset
    ? presetEntries(preset, availableWorkers, { workspace })
    : parseEntries(readConfigFile(file!), availableWorkers, { workspace });
  const files = Array.isArray(options.app) ? options.app.map((app) => resolve(app)) : [];
  const apps = readApps(files, { available: availableWorkers, workspace });
  const source = files.length > 0 ? `app ${files.join(', ')}` : preset ? `preset ${preset.name}` : file!;
  return { entries: withApps(entries, apps), source };
}

function policyAsked(options: CommandInput['options'], access: Access): string | undefined {
  const named = text(options.policy);
  const token = text(options.token);
  if (named !== undefined && token !== undefined) throw new ConfigError('give --policy or --token, not both');
  if (named !== undefined) return policyNamed(named, access.policies, '--policy').name;
  if (token === undefined) return access.local;
  const found = access.tokenNamed(token);
  if (!found) throw new ConfigError(`there is no token "${token}": workcell token list shows them`);
  return found.policy;
}
