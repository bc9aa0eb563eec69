/**
 * Hosts that one sandbox, or the fence, may reach: allowed by the operator and, if the call has lists, by the call too.
 *
 * Both apply at once, so a call cannot open more. Deny beats allow. An address that is not public has to be listed
 * itself, in both; a name that resolves to it opens nothing.
 */
import { isOfNetwork, isPublic } from './addresses.ts';
import { covers, HOST_NAME, hasPort, matches, names, type Rule } from './rule.ts';
import type { Target } from './target.ts';

export interface RuleLists {
  readonly allow: readonly Rule[];
  readonly deny: readonly Rule[];
}

export type Verdict =
  | { readonly isAllowed: true; readonly rule: string }
  | {
      readonly isAllowed: false;
      readonly reason: 'not_allowed' | 'denied' | 'not_public';
      readonly rule: string | null;
    };

export interface PolicyOptions {
  /** The call's lists; without them only the ceiling applies. */
  readonly wanted?: RuleLists | undefined;
  /** Configuration key of the operator's list, for refusals. */
  readonly allowKey?: string;
  /** `name:port` of hosts that the operator trusts to resolve to an address of a private network. */
  readonly privateHosts?: ReadonlySet<string>;
}

export class EgressPolicy {
  readonly allowKey: string;
  readonly #ceiling: RuleLists;
  readonly #layers: readonly RuleLists[];
  readonly #privateHosts: ReadonlySet<string>;

  constructor(
    ceiling: RuleLists,
    { wanted, allowKey = 'egress.allow of iii-sandbox', privateHosts = new Set() }: PolicyOptions = {},
  ) {
    this.allowKey = allowKey;
    this.#ceiling = ceiling;
    this.#layers = wanted ? [wanted, ceiling] : [ceiling];
    this.#privateHosts = privateHosts;
  }

  /** The entries that apply beside the operator's denials. */
  get lists(): { allow: string[]; deny: string[] } {
    const [first] = this.#layers;
    const deny = this.#layers.flatMap((layer) => layer.deny.map(({ entry }) => entry));
    return { allow: first!.allow.map(({ entry }) => entry), deny: [...new Set(deny)] };
  }

  /** Whether the target's name may be resolved at all. */
  judge(target: Target): Verdict {
    const denying = this.#denying(target);
    if (denying) return { isAllowed: false, reason: 'denied', rule: denying.entry };

    const allowing = this.#layers.map((layer) => layer.allow.find((rule) => matches(rule, target)));
    if (!allowing.every((rule) => rule !== undefined)) return { isAllowed: false, reason: 'not_allowed', rule: null };
    return { isAllowed: true, rule: allowing[0]!.entry };
  }

  /** Whether this address, which the target resolved to, may be dialled. */
  admits(address: string, { host, port }: Target): Verdict {
    const denying = this.#denying({ host: { kind: 'address', address }, port });
    if (denying) return { isAllowed: false, reason: 'denied', rule: denying.entry };

    const isTheHost = host.kind === 'name' && host.name === HOST_NAME;
    const isNamed = () =>
      this.#layers.every(({ allow }) => allow.some((rule) => hasPort(rule, port) && names(rule, address)));
    const isTrusted = () =>
      host.kind === 'name' && this.#privateHosts.has(`${host.name}:${port}`) && isOfNetwork(address);
    if (isTheHost || isPublic(address) || isNamed() || isTrusted()) return { isAllowed: true, rule: '' };
    return { isAllowed: false, reason: 'not_public', rule: null };
  }

  /** Whether only the call, and not the operator, refuses the target. */
  isWithinCeiling(target: Target): boolean {
    const { allow, deny } = this.#ceiling;
    return allow.some((rule) => matches(rule, target)) && !deny.some((rule) => denies(rule, target));
  }

  #denying(target: Target): Rule | undefined {
    return this.#layers.flatMap(({ deny }) => deny).find((rule) => denies(rule, target));
  }
}

/** Denying everything includes addresses and this machine. */
function denies(rule: Rule, target: Target): boolean {
  return rule.hosts.kind === 'any' ? hasPort(rule, target.port) : matches(rule, target);
}

/** Why the operator's lists do not cover this entry; undefined when they do. */
export function whyBeyond(entry: Rule, { allow, deny }: RuleLists): string | undefined {
  const denying = deny.find((rule) => covers(rule, entry));
  if (denying) return `the operator denies ${denying.entry}`;
  if (allow.some((rule) => covers(rule, entry))) return undefined;
  return allow.length === 0
    ? 'the operator allows nothing'
    : `the operator allows ${allow.map((rule) => rule.entry).join(', ')}`;
}
