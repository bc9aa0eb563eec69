/** Checks that an engine answers at the address that commands use, and if not, whether one could start there. */
import { connect as connectTcp } from 'node:net';

import { connect } from '#client';
import { CallError, silentLog } from '#contract';
import type { Finding } from './finding.ts';
import { portOwner } from './port-owner.ts';

const ANSWER_MS = 1000;

/** A listener on another address is not visible from here. */
const LOOPBACK = /^(localhost|127\..*|::1)$/;

export async function checkEngine(url: string, token: string | undefined): Promise<Finding> {
  const finding = (status: Finding['status'], detail: string, fix = ''): Finding => ({
    check: 'engine',
    status,
    detail,
    fix,
  });
  const { hostname, port: named, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const port = Number(named || (protocol === 'wss:' ? 443 : 80));
  const listening = await listens(host, port);
  if (listening === 'no') return finding('ok', `nothing listens at ${url}: the port is free`, 'workcell start');
  if (listening === 'silent') return finding('warn', `no answer from ${url}`, 'check the address');

  const owner = LOOPBACK.test(host) ? portOwner(port) : undefined;
  const by = owner === undefined ? '' : `: ${owner}`;
  const problem = await whyNoEngine(url, token);
  if (problem === undefined) return finding('ok', `an engine answers at ${url}${by}`);
  if (problem.includes('HTTP 401')) {
    return finding('warn', `an engine at ${url} wants a token${by}`, 'give --token or set WORKCELL_TOKEN');
  }
  return finding('warn', `something else listens at ${url}${by}`, 'workcell start --port picks another port');
}

function listens(host: string, port: number): Promise<'yes' | 'no' | 'silent'> {
  return new Promise((resolve) => {
    const finish = (result: 'yes' | 'no' | 'silent') => {
      socket.destroy();
      resolve(result);
    };
    const socket = connectTcp({ host, port, timeout: ANSWER_MS });
    socket.once('connect', () => finish('yes'));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => finish(code === 'ECONNREFUSED' ? 'no' : 'silent'));
    socket.once('timeout', () => finish('silent'));
  });
}

async function whyNoEngine(url: string, token: string | undefined): Promise<string | undefined> {
  try {
    const bus = await connect(url, { name: `workcell-cli:${process.pid}`, token, log: silentLog });
    bus.close();
    return undefined;
  } catch (error) {
    if (error instanceof CallError) return error.message;
    throw error;
  }
}
