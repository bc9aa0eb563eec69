/** A policy whose first rule decides, so that every call is checked against all twenty. */
const EXCEPTIONS = [
  { deny: { function: 'shell::*' } },
  { deny: { function: ['sandbox::create', 'sandbox::remove'] } },
  { deny: { permission: 'net.*' } },
  { ask: { effect: 'delete' } },
  { ask: { risk: 'high' } },
  { deny: { paths: ['secrets/**', '**/*.pem'] } },
  { ask: { permission: 'fs.write', paths: ['src/**', 'package.json'] } },
  { deny: { program: ['curl', 'wget'] } },
  { deny: { namespace: 'other' } },
];

const withExamples = (rule) => ({ ...rule, match: [], not_match: [] });

export const TWENTY_RULES = [
  { allow: {} },
  ...EXCEPTIONS,
  ...EXCEPTIONS,
  { deny: { function: 'agent::*', paths: ['**/.git/**'] } },
].map(withExamples);
