/** The key `access` put to work: policies by name, tokens, and the decision about one call. */
import { z } from 'zod';

import { RISKS, SubjectSchema, type AccessControl, type CalledFunction, type Decision } from '#contract';
import type { AccessConfig } from './config.ts';
import { Policy, policyNamed } from './policy.ts';
import type { CallFacts } from './rule.ts';
import { SHIPPED_POLICIES } from './shipped.ts';
import { subjectOf } from './subject.ts';
import { configuredTokens, lookUp, type Lookup, type TokenEntry } from './tokens/token-book.ts';
import type { TokenFile } from './tokens/token-file.ts';

/** The announced metadata that rules use; an invalid field counts as absent. */
const AnnouncedSchema = z.object({
  effect: z.string().optional().catch(undefined),
  permissions: z.array(z.string()).optional().catch(undefined),
  risk: z.enum(RISKS).optional().catch(undefined),
  subject: SubjectSchema.optional().catch(undefined),
});
type Announced = z.output<typeof AnnouncedSchema>;

export interface AccessOptions {
  readonly config: AccessConfig;
  /** Absolute and real; paths of calls count from it. */
  readonly workspace: string;
  /** The function that an example of a rule names, as far as it is known before a worker has announced it. */
  readonly find: (functionId: string) => CalledFunction | undefined;
  readonly tokenFile?: TokenFile | undefined;
  readonly env?: NodeJS.ProcessEnv;
}

export class Access implements AccessControl {
  readonly policies: ReadonlyMap<string, Policy>;
  /** The policy of callers without a token on loopback. */
  readonly local: string | undefined;
  /** The policy of callers at other nodes of a cluster. */
  readonly nodes: string | undefined;
  readonly askTimeoutMs: number;
  readonly #workspace: string;
  readonly #configured: readonly TokenEntry[];
  readonly #tokenFile: TokenFile | undefined;
  /** A function announces itself once and is called often. */
  readonly #announced = new WeakMap<object, Announced>();

  constructor({ config, workspace, find, tokenFile, env = process.env }: AccessOptions) {
    this.#workspace = workspace;
    this.#tokenFile = tokenFile;
    this.askTimeoutMs = config.ask_timeout_s * 1000;
    const factsOf = (id: string, payload: unknown) => {
      const fn = find(id);
      return fn && this.factsOf(fn, payload);
    };
    const shipped = Object.entries(SHIPPED_POLICIES).map(([name, rules]) => [name, new Policy(name, rules)] as const);
    const own = Object.entries(config.policies).map(
      ([name, rules]) => [name, new Policy(name, rules, { factsOf })] as const,
    );
    this.policies = new Map([...shipped, ...own]);
    this.local = config.local;
    if (config.local !== undefined) policyNamed(config.local, this.policies, 'access.local');
    this.nodes = config.nodes;
    if (config.nodes !== undefined) policyNamed(config.nodes, this.policies, 'access.nodes');
    for (const [at, { policy }] of config.tokens.entries()) {
      if (policy !== undefined) policyNamed(policy, this.policies, `access.tokens[${at}].policy`);
    }
    this.#configured = configuredTokens(config.tokens, env);
  }

  /** The accepted tokens by name, each with a mark that changes with its secret or policy. */
  marks(nowMs = Date.now()): Map<string, string> {
    const accepted = this.#tokens().filter(({ expiresAtMs = Infinity }) => nowMs < expiresAtMs);
    return new Map(accepted.map(({ name, sha256, policy = '' }) => [name, `${sha256} ${policy}`]));
  }

  get hasTokens(): boolean {
    return this.#tokens().length > 0;
  }

  tokenNamed(name: string): TokenEntry | undefined {
    return this.#tokens().find((token) => token.name === name);
  }

  lookUp(secret: string): Lookup {
    return lookUp(this.#tokens(), secret);
  }

  /** A removed policy, such as that of an old token, denies. */
  decide(policy: string, fn: CalledFunction, payload: unknown): Decision {
    const named = this.policies.get(policy);
    return named?.decide(this.factsOf(fn, payload)) ?? { verdict: 'deny', rule: `${policy}: there is no such policy` };
  }

  factsOf({ id, namespace, namespaceNames, metadata }: CalledFunction, payload: unknown): CallFacts {
    const { subject, ...announced } = this.#read(metadata);
    return {
      id,
      namespaces: namespaceNames ?? [namespace],
      ...announced,
      ...subjectOf(subject, payload, this.#workspace),
    };
  }

  #tokens(): readonly TokenEntry[] {
    return this.#tokenFile ? [...this.#configured, ...this.#tokenFile.entries()] : this.#configured;
  }

  #read(metadata: unknown): Announced {
    if (typeof metadata !== 'object' || metadata === null) return {};
    const known = this.#announced.get(metadata) ?? AnnouncedSchema.safeParse(metadata).data ?? {};
    this.#announced.set(metadata, known);
    return known;
  }
}
