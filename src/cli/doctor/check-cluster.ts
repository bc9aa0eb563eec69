/** Checks that the servers of the cluster answer, accept this node, and that the clocks of the nodes agree. */
import type { ClusterProbe, ClusterSettings } from '#cluster';
import { ConfigError } from '#contract';
import type { Finding } from './finding.ts';

/** Clocks decide only which of two claims is older; a larger difference shows a machine without time service. */
const MOST_AHEAD_MS = 2_000;

type Probe = (settings: ClusterSettings) => Promise<ClusterProbe>;

const probeLater: Probe = async (settings) => (await import('#cluster')).probeCluster(settings);

export async function checkCluster(settings: ClusterSettings | undefined, probe = probeLater): Promise<Finding> {
  const finding = (status: Finding['status'], detail: string, fix = ''): Finding => ({
    check: 'cluster',
    status,
    detail,
    fix,
  });
  if (!settings) return finding('off', 'this engine is by itself', 'workcell start --cluster nats://HOST:4222');
  try {
    return judge(await probe(settings), settings, finding);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return finding('warn', error.message, 'workcell cluster config makes users and keys');
  }
}

function judge(
  { server, whyDown, refused, isNameTaken, nodes }: ClusterProbe,
  { servers, node, cluster }: ClusterSettings,
  finding: (status: Finding['status'], detail: string, fix?: string) => Finding,
): Finding {
  if (!server) {
    const why = whyDown === undefined ? '' : ` (${whyDown})`;
    return finding('warn', `no NATS server answers at ${servers.join(', ')}${why}`, 'start one, or check --cluster');
  }
  if (refused.length > 0) {
    const fix = 'give each node its own user: workcell cluster config';
    return finding('warn', `the NATS user of this node may not ${refused.join(', nor ')}`, fix);
  }
  const off = nodes.find(({ aheadMs = 0 }) => Math.abs(aheadMs) > MOST_AHEAD_MS);
  if (off) {
    const seconds = (Math.abs(off.aheadMs!) / 1_000).toFixed(1);
    const where = off.aheadMs! > 0 ? 'ahead of' : 'behind';
    return finding('warn', `the clock of ${off.name} is ${seconds} s ${where} this one`, 'run a time service on both');
  }
  const others = nodes.length === 1 ? '1 node' : `${nodes.length} nodes`;
  const own = isNameTaken ? `${node} is in it` : `${node} is free`;
  return finding(
    'ok',
    `${cluster} at ${server.url}: ${others} heard, ${own} (nats-server ${server.version}, ${server.roundTripMs.toFixed(1)} ms)`,
  );
}
