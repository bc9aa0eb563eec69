/** The failure for a caller whose sandbox is on another machine: of the connection, or the machine's own failure. */
import { CallError, Failure, type Fleet, type FleetNode } from '#contract';
import { errors } from '../errors.ts';

const GO_ON = 'It may come back: wait and try again, or create another sandbox with sandbox::create.';
const ANOTHER = 'What ran in it is lost. Create another sandbox with sandbox::create.';

/** A failure of another machine, passed on as it came. */
export class PassedOn extends Failure {
  readonly sent: CallError;

  constructor(sent: CallError) {
    super({ code: sent.code, message: sent.message }, sent);
    this.sent = sent;
  }
}

/** A named sandbox or job, and the node that owns it. */
export interface Owned {
  readonly id: string;
  readonly kind: 'sandbox' | 'job';
  readonly tag: string;
}

export function lostWhileRunning(host: string): Failure {
  return errors.fail('S300', { host: `${host} was lost while the call ran`, note: ANOTHER });
}

export function unreachable(host: string): Failure {
  return errors.fail('S300', { host: `${host} is not reachable`, note: GO_ON });
}

/** The failure for an id that no machine has. */
export function notThere({ id, kind }: Pick<Owned, 'id' | 'kind'>, node?: FleetNode): Failure {
  const ended = node?.gone && `its host ${node.name} ${node.gone.how}`;
  if (kind === 'sandbox') return errors.fail('S002', { id, ...(ended !== undefined && { ended }) });
  return errors.fail('S220', { problem: `no such job: ${id}${ended === undefined ? '' : ` (${ended})`}` });
}

/** The failure of a call that could not be sent to the owner, or did not come back from there. */
export function failureOf(error: unknown, owned: Owned, fleet: Fleet): unknown {
  if (!(error instanceof CallError)) return error;
  const node = fleet.nodeOf(owned.tag);
  const name = node?.name ?? owned.tag;
  if (error.code === 'invocation_stopped') return lostWhileRunning(name);
  if (error.code !== 'channel_send_failed') return new PassedOn(error);
  return node?.gone?.isOver ? notThere(owned, node) : unreachable(name);
}
