/** workcell policy explain: whether a policy allows a call, which rule decided, and what would change that. */
import { policyNamed, type Access } from '#access';
import { shippedFunction } from '#assembly';
import { ConfigError, type Decision } from '#contract';
import { toPayload } from '../../call-arguments.ts';
import { valueOption, type Command, type CommandInput } from '../../command.ts';
import { text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { accessOptions, readAccess } from './access-options.ts';

export const policyExplain: Command = {
  name: 'policy explain',
  summary: 'Say whether a call is allowed, asked about or denied, and by which rule.',
  usage: 'FUNCTION [KEY=VALUE…]',
  details: 'Without --policy and --token it explains the policy of callers without a token.',
  options: {
    policy: valueOption('NAME', 'Explain this policy.'),
    token: valueOption('NAME', 'Explain the policy of this token.'),
    payload: valueOption('JSON', 'The request; KEY=VALUE pairs override it.'),
    workspace: valueOption('DIR', 'Directory that paths count from, default the current one.'),
    json: { type: 'boolean', description: 'Print JSON.' },
    ...accessOptions,
  },
  examples: [
    'workcell policy explain shell::exec command="git push" --policy read-only',
    'workcell policy explain coder::delete-file --token ci',
  ],
  minWords: 1,

  run({ words: [id = '', ...pairs], options }) {
    const { access } = readAccess(options);
    const policy = policyAsked(options, access);
    const fn = shippedFunction(id) ?? { id, namespace: 'default' };
    const payload = toPayload(pairs, text(options.payload));
    const decision = policy === undefined ? NO_POLICY : access.decide(policy, fn, payload);
    const change = advice(decision, id, policy);
    const isKnown = fn.metadata !== undefined;
    printReply(options, { function: id, policy, ...decision, change, known: isKnown }, () =>
      [
        `${decision.verdict}  ${id}`,
        `  rule    ${decision.rule}`,
        ...(decision.reason === undefined ? [] : [`  reason  ${decision.reason}`]),
        ...(change === undefined ? [] : [`  change  ${change}`]),
        ...(isKnown ? [] : [`  note    no worker of this build has ${id}: what it declares is unknown here`]),
        '',
      ].join('\n'),
    );
    return Promise.resolve(EXIT.ok);
  },
};

const NO_POLICY: Decision = { verdict: 'allow', rule: 'no policy limits this caller' };

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

function advice({ verdict }: Decision, id: string, policy: string | undefined): string | undefined {
  if (policy === undefined) return 'name a policy: access.local, or the policy of a token';
  const rule = verdict === 'allow' ? `{ deny: { function: "${id}" } }` : `{ allow: { function: "${id}" } }`;
  return `at the end of access.policies.${policy}: ${rule}`;
}
