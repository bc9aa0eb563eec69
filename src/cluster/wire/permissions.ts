/**
 * Users of a NATS server for the nodes of a cluster, each limited to its own name.
 *
 * A node with the role `host` alone may answer and never call: root on it reaches no function anywhere.
 */
import { PROTOCOL, type ToNode } from './subjects.ts';

export interface NodeUser {
  name: string;
  /** Receives the reports of others and calls them. */
  isDoor: boolean;
  /** Its public key, as an nkey. */
  publicKey: string;
}

/** Kinds of message that a node sends to answer others. */
export const HOSTS_SEND: readonly ToNode[] = ['result', 'piece', 'chan'];
/** Kinds of message that a node sends to call others. */
export const CALLERS_SEND: readonly ToNode[] = ['call', 'cancel', 'ask', 'block'];

/** The block `authorization` of the server's configuration file. */
export function authorizationBlock(cluster: string, users: readonly NodeUser[]): string {
  return `authorization {\n  users: [\n${users.map((user) => userBlock(`${PROTOCOL}.${cluster}`, user)).join('\n')}\n  ]\n}\n`;
}

function userBlock(prefix: string, { name, isDoor, publicKey }: NodeUser): string {
  const heard = [`${prefix}.${name}.>`, `_INBOX.${name}.>`, ...(isDoor ? [`${prefix}.all.>`] : [])];
  const kinds = isDoor ? [...HOSTS_SEND, ...CALLERS_SEND] : HOSTS_SEND;
  const sent = [
    `${prefix}.all.*.${name}.*`,
    `${prefix}.${name}.name.${name}.*`,
    ...kinds.map((kind) => `${prefix}.*.*.${kind}.${name}.*`),
  ];
  return [
    `    # ${name}: ${isDoor ? 'door and host' : 'host'}`,
    `    { nkey: ${publicKey}, permissions: {`,
    `      subscribe: [${heard.map(quoted).join(', ')}]`,
    `      publish: [${sent.map(quoted).join(', ')}]`,
    '      allow_responses: { max: 1, expires: "1m" }',
    '    } }',
  ].join('\n');
}

function quoted(subject: string): string {
  return JSON.stringify(subject);
}
