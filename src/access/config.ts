/** The key `access` of a configuration: accepted tokens, and the functions that each caller may call. */
import { z } from 'zod';

import { RISKS, wire } from '#contract';

const EFFECTS = ['read', 'write', 'delete', 'execute'] as const;

const some = <Item extends z.ZodType>(item: Item) => z.union([item, z.array(item).min(1)]);
const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i, 'must be 1 to 64 letters, digits, ".", "_" and "-"');

const Matcher = z.strictObject({
  function: some(z.string().min(1)).optional().describe('Ids; `*` stands for any text: `shell::*`.'),
  effect: some(z.enum(EFFECTS)).optional(),
  permission: some(z.string().min(1)).optional().describe('Such as `fs.write`; `*` stands for any text.'),
  risk: some(z.enum(RISKS)).optional(),
  namespace: some(z.string().min(1)).optional(),
  paths: some(z.string().min(1))
    .optional()
    .describe('Globs over the paths of a call, from the workspace. Only functions that declare their paths.'),
  program: some(z.string().min(1))
    .optional()
    .describe('Names of programs; `*` stands for any text. Only functions that declare their command.'),
});

const Example = z.union([z.string(), z.strictObject({ function: z.string(), payload: z.unknown().optional() })]);

const Rule = z
  .strictObject({
    allow: Matcher.optional(),
    ask: Matcher.optional(),
    deny: Matcher.optional(),
    by: z
      .enum(['operator', 'client'])
      .optional()
      .describe(
        'Of `ask`: `client` lets an MCP client that made the call ask its own person. The client program is trusted to do so.',
      ),
    reason: z.string().max(200).optional().describe('Shown to a caller that is refused, and to the person asked.'),
    match: z.array(Example).default([]).describe('Calls that the rule must match; checked at the start.'),
    not_match: z.array(Example).default([]).describe('Calls that it must not match; checked at the start.'),
  })
  .refine(({ allow, ask, deny }) => [allow, ask, deny].filter(Boolean).length === 1, {
    error: 'needs exactly one of allow, ask and deny',
  })
  .refine(({ ask, by }) => by === undefined || ask !== undefined, { error: '`by` belongs to a rule that asks' });

const Token = z
  .strictObject({
    name,
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, 'must be 64 hexadecimal digits')
      .optional(),
    env: z.string().min(1).optional().describe('The environment variable that holds the secret.'),
    policy: z.string().optional().describe('A policy by name; without one the token may call everything.'),
    expires: z.iso.date().or(z.iso.datetime()).optional().describe('A date (its first second in UTC) or a time.'),
  })
  .refine(({ sha256, env }) => (sha256 === undefined) !== (env === undefined), {
    error: 'needs either sha256 or env',
  });

const Audit = z.strictObject({
  max_bytes: wire.uint64().default(67_108_864).describe('Bytes after which a file is closed; 0 keeps no audit.'),
  keep: wire.uint32().default(10).describe('Closed files that are kept.'),
});

export const accessConfig = z.strictObject({
  tokens: z.array(Token).default([]),
  policies: z.record(name, z.array(Rule)).default({}).describe('Rules by name. The last rule that matches decides.'),
  local: z
    .string()
    .optional()
    .describe(
      'The policy of callers without a token on loopback. Left out, they may call everything if there is no token, and nothing if there is one.',
    ),
  nodes: z
    .string()
    .optional()
    .describe(
      'The policy of callers at other nodes of a cluster, beside that of their own node. Left out, they may call all that is shared.',
    ),
  audit: Audit.prefault({}).describe(
    'Records of calls that change, run, delete or were refused, in the state directory.',
  ),
  ask_timeout_s: wire.uint32().default(300).describe('Seconds that a call waits for a person; then it is denied.'),
});

export type AccessConfig = z.output<typeof accessConfig>;
export type RuleConfig = z.output<typeof Rule>;
export type MatcherConfig = z.output<typeof Matcher>;
export type TokenConfig = z.output<typeof Token>;
export type ExampleConfig = z.output<typeof Example>;
