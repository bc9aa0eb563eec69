/** A refusal as the HTTP reply to the program: the target, the reason, the alternative. */
import type { EgressPolicy, Verdict } from './policy.ts';
import { hostText, spelled, type Target } from './target.ts';

type Reason = Extract<Verdict, { isAllowed: false }>['reason'] | 'bad_request' | 'not_found' | 'unreachable';

const STATUS: Record<Reason, number> = {
  not_allowed: 403,
  denied: 403,
  not_public: 403,
  bad_request: 400,
  not_found: 502,
  unreachable: 502,
};

/** Limit for the status line, which most programs print whole. */
const MAX_STATUS_CHARS = 200;

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly reason: Reason;
  readonly fix: string | null;

  constructor(reason: Reason, message: string, fix: string | null = null, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
    this.fix = fix;
  }

  get status(): number {
    return STATUS[this.reason];
  }

  /** The only part that most programs print: the body of a refused CONNECT is not shown. */
  get statusText(): string {
    return this.message.slice(0, MAX_STATUS_CHARS).replace(/[^\x20-\x7e]/g, '?');
  }

  /** The reason with the alternative. */
  get advice(): string {
    return this.fix === null ? this.message : `${this.message}. ${this.fix}`;
  }

  get body(): string {
    const code = this.status === 403 ? 'egress_refused' : 'egress_failed';
    const { reason, message, fix } = this;
    return `${JSON.stringify({ error: { code, reason, message, fix } })}\n`;
  }
}

export function refusalOf(target: Target, verdict: Verdict & { isAllowed: false }, policy: EgressPolicy): Refusal {
  const hostPort = spelled(target);
  const { allowKey } = policy;
  const [list] = allowKey.split(' ');
  const byOperator = `The operator can add "${hostPort}" to ${allowKey} in the configuration.`;
  switch (verdict.reason) {
    case 'denied':
      return new Refusal('denied', `${list!.replace('allow', 'deny')} lists ${hostPort} by "${verdict.rule}"`);
    case 'not_public':
      return new Refusal(
        'not_public',
        `${hostText(target.host)} does not resolve to a public address`,
        `The operator can open an address of a private network, by the address itself, in ${allowKey}.`,
      );
    case 'not_allowed':
      return new Refusal(
        'not_allowed',
        `${list} does not list ${hostPort}`,
        policy.isWithinCeiling(target) ? `Create the sandbox with "${hostPort}" in egress.allow.` : byOperator,
      );
  }
}
