/** The network of commands in the fence: the egress proxy, on a socket that only the launcher's relay connects to. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Log } from '#contract';
import { EgressPolicy, EgressProxy, proxyEnv, rulesOf, type OnHost, type RefusedTarget } from '#egress';
import type { HostRegistries } from './registries.ts';

export interface EgressRules {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

interface Watching {
  readonly log: Log;
  readonly onHost?: OnHost | undefined;
}

/** Certificates that the user's programs trust: inside they have to trust the same. */
const TRUST = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'CURL_CA_BUNDLE',
];

export class EgressSocket {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #server: Server;
  readonly #proxy: EgressProxy;

  private constructor(proxy: EgressProxy, env: Record<string, string>) {
    this.#proxy = proxy;
    this.env = env;
    this.#folder = mkdtempSync(join(tmpdir(), 'workcell-fence-'));
    this.path = join(this.#folder, 'egress');
    this.#server = createServer({ allowHalfOpen: true }, (connection) => proxy.take(connection));
    this.#server.unref();
  }

  static async open(rules: EgressRules, registries: HostRegistries, { log, onHost }: Watching): Promise<EgressSocket> {
    const policy = new EgressPolicy(rulesOf({ ...rules, allow: [...rules.allow, ...registries.hosts] }), {
      allowKey: 'fence_egress.allow of shell',
      privateHosts: new Set(registries.hosts),
    });
    const trust = TRUST.flatMap((name): [string, string][] => (process.env[name] ? [[name, process.env[name]]] : []));
    const env: Record<string, string> = Object.fromEntries([...trust, ...proxyEnv, ...Object.entries(registries.env)]);
    const egressSocket = new EgressSocket(new EgressProxy({ policy, log, onHost }), env);
    egressSocket.#server.listen(egressSocket.path);
    await once(egressSocket.#server, 'listening');
    return egressSocket;
  }

  /** Collects refusals from now on, each host once, until it is read. */
  watchRefusals(): () => RefusedTarget[] {
    return this.#proxy.log.watchRefusals();
  }

  close(): void {
    this.#server.close();
    this.#proxy.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
