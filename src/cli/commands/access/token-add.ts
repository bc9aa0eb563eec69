/** workcell token add: makes a token and prints its secret, once. */
import { policyNamed, TokenFile } from '#access';
import { ConfigError } from '#contract';
import { UsageError, valueOption, type Command } from '../../command.ts';
import { text } from '../../engine-address.ts';
import { EXIT } from '../../exit-codes.ts';
import { printReply } from '../../print.ts';
import { accessOptions, readAccess } from './access-options.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/i;

export const tokenAdd: Command = {
  name: 'token add',
  summary: 'Make a token for a caller and print its secret, once.',
  usage: 'NAME',
  details:
    'Only the hash of the secret is stored. A running server accepts the token at once. From the first token on, callers without one are refused, unless `access.local` names their policy.',
  options: {
    policy: valueOption('NAME', 'Policy of its calls, such as read-only; without one it may call everything.'),
    expires: valueOption('DATE', 'When it ends: 2027-01-01, or a time with a zone.'),
    json: { type: 'boolean', description: 'Print JSON.' },
    ...accessOptions,
  },
  examples: ['workcell token add ci --policy read-only', 'workcell token add reviewer --expires 2027-01-01'],
  minWords: 1,
  maxWords: 1,

  run({ words: [name = ''], options }) {
    if (!NAME.test(name))
      throw new UsageError(`NAME must be 1 to 64 letters, digits, ".", "_" and "-" (got "${name}")`);
    const { access, stateDir } = readAccess(options);
    const policy = text(options.policy);
    if (policy !== undefined) policyNamed(policy, access.policies, '--policy');
    const secret = new TokenFile(stateDir).add({ name, policy, expiresAtMs: expiry(text(options.expires)) });
    printReply(options, { name, policy, secret }, () => `${secret}\n`);
    if (options.json !== true) {
      process.stderr.write(`This is the secret of ${name}; it is shown only now. Send it as Authorization: Bearer.\n`);
    }
    return Promise.resolve(EXIT.ok);
  },
};

function expiry(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const atMs = /^\d{4}-\d{2}-\d{2}(T.+)?$/.test(given) ? Date.parse(given) : NaN;
  if (Number.isNaN(atMs)) throw new ConfigError(`--expires must be a date such as 2027-01-01 (got ${given})`);
  if (atMs <= Date.now()) throw new ConfigError(`--expires ${given} is in the past; give a later time`);
  return atMs;
}
