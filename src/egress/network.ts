/**
 * The host network as the proxy uses it: a name is resolved once, and only the addresses found then are dialled.
 *
 * Names are resolved by the DNS servers of this machine, not by the system's resolver: that one would block a thread of
 * the process for each slow answer, and a sandbox could stop every file operation with many names.
 */
import { Resolver } from 'node:dns/promises';
import { connect, type Socket } from 'node:net';

import { canonicalAddress } from './addresses.ts';

const TRY_MS = 3000;
const TRIES = 2;

export interface Network {
  /** Returns the canonical addresses of a name; throws if there is none. */
  lookup(name: string, signal: AbortSignal): Promise<string[]>;
  /** Connects to the first address that answers. */
  dial(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket>;
}

/** Uses the DNS servers of this machine, unless others are given. */
export function openNetwork({ nameServers }: { nameServers?: readonly string[] } = {}): Network {
  return { lookup: (name, signal) => lookup(name, { nameServers, signal }), dial };
}

interface LookupOptions {
  readonly nameServers: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

async function lookup(name: string, { nameServers, signal }: LookupOptions): Promise<string[]> {
  signal.throwIfAborted();
  const resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
  if (nameServers) resolver.setServers(nameServers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = [v4, v6].flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0) throw new Error(`${name} has no address`, { cause: (v4 as PromiseRejectedResult).reason });
    return found.map(canonicalAddress);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

function dial(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  const known = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return new Promise((resolve, reject) => {
    const socket = connect({
      // A placeholder, never resolved: `lookup` returns the address.
      host: 'found.invalid',
      port,
      allowHalfOpen: true,
      noDelay: true,
      autoSelectFamily: true,
      lookup: (_, __, done) => done(null, known),
    });
    const destroy = () => socket.destroy(signal.reason as Error);
    signal.addEventListener('abort', destroy, { once: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', destroy);
      socket.off('error', reject);
      resolve(socket);
    });
    if (signal.aborted) destroy();
  });
}
