/** A Workcell with one worker, as its argument says; it also calls itself over the bus. */
import { openGuard, shippedAccess, startWorkcell, entryOf } from '#assembly';
import { connect } from '#client';
import { makePrincipal, shippedCell, silentLog } from '#contract';
import { openTelemetry } from '#otlp';
import { coder } from '#workers/coder';

import { serveParent } from '../../processes.mjs';
import { measure } from './measure.mjs';

const { workspace, state, access, endpoint } = JSON.parse(process.argv[2]);
const cell = { ...shippedCell, state_dir: state };
const entries = [entryOf(coder, { base_path: workspace, fsync: false }, { workspace, cell }, 'coder')];
const guard =
  access && openGuard({ config: { ...shippedAccess, ...access }, workspace, stateDir: state, log: silentLog });
const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
if (endpoint) process.env.OTEL_EXPORTER_OTLP_ENDPOINT = endpoint;
const telemetry = endpoint && (await openTelemetry({ version: '0', log: silentLog, env }));
const parts = { entries, guard, telemetry, log: silentLog };
const { url, engine } = await startWorkcell({ ...parts, host: '127.0.0.1', port: 0 });
const bus = await connect(engine.dialer());
const caller = makePrincipal('local', 'bench', { policy: access?.local });
serveParent({ url: url.replace(/^ws/, 'http') }, async ({ work, ms }) => {
  if (work) return measure((id, request) => bus.call(id, request, { caller }), work, ms);
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
});
