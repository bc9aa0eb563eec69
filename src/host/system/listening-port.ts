/** Checks whether a program listens on a TCP port of the loopback address. */
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';

/** `local_address` and `st` of a listening socket in /proc/net/tcp; the address is any, or one of loopback. */
const LISTENING = /^ *\d+: ([\dA-F]+):([\dA-F]{4}) [\dA-F]+:0000 0A /gm;
const LOOPBACK = /^(?:0{8}|[\dA-F]{6}7F|0{32}|0{24}01000000|0{16}FFFF0000(?:0{8}|[\dA-F]{6}7F))$/;
const CONNECT_MS = 1000;

/** Where the kernel lists its sockets. */
export const SOCKET_LISTS = ['/proc/net/tcp', '/proc/net/tcp6'];

const OWN_NETWORK = '/proc/net';

/**
 * Reads the kernel's socket list where it exists, because a test connection could use up the only one that a program
 * accepts. `network` is the folder of /proc that shows the program's network.
 */
export async function isListening(port: number, network = OWN_NETWORK): Promise<boolean> {
  const lists = await Promise.all([`${network}/tcp`, `${network}/tcp6`].map(listOf));
  if (lists[0] === undefined) return network === OWN_NETWORK && (await accepts(port));
  return lists.some((list) => listsListener(list ?? '', port));
}

/** Whether a list of the kernel's has a listener on the port. */
export function listsListener(list: string, port: number): boolean {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return [...list.matchAll(LISTENING)].some(([, address, own]) => own === wanted && LOOPBACK.test(address!));
}

async function listOf(path: string): Promise<string | undefined> {
  return readFile(path, 'latin1').catch(() => undefined);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: 'localhost', timeout: CONNECT_MS });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => end(true));
    for (const event of ['error', 'timeout']) socket.once(event, () => end(false));
  });
}
