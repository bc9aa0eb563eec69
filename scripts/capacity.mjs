/**
 * The table "How large" of docs/guides/fleet.md, from the section `cluster` of docs/benchmarks.md.
 *
 * After `npm run bench -- cluster --write`, run `npm run docs`: no figure is edited by hand. What the benchmark measures is
 * scaled to the load of the guide, which is four times as large.
 */

const BEGIN = '<!-- capacity:begin, made by `npm run docs` from docs/benchmarks.md -->';
const END = '<!-- capacity:end -->';
/** Creates and commands a second: those that the benchmark makes of one door, and those of the guide with as many stops as creates. */
const [MEASURED_CALLS, CALLS] = [3_000, 12_000];
const SCALE = CALLS / MEASURED_CALLS;
/** Of the image with Python. */
const IMAGE_MIB = 212;

/** The guide with the figures of the benchmarks. */
export function withCapacity(guide, benchmarks) {
  const [from, to] = [guide.indexOf(BEGIN), guide.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`docs/guides/fleet.md must have ${BEGIN} and ${END}`);
  return `${guide.slice(0, from)}${BEGIN}\n\n${capacityTable(benchmarks)}\n\n${guide.slice(to)}`;
}

function capacityTable(benchmarks) {
  const row = rowsOf(benchmarks);
  const [create] = row('A sandbox through a door', 'create (lower is better)', 2);
  const [exec] = row('A sandbox through a door', 'exec (lower is better)', 2);
  const fleet = 'One door before many hosts';
  const [door, memory] = row(fleet, 'door: processor / memory', 1);
  const [nats] = row(fleet, 'NATS: processor', 1);
  const [idleDoor, idleNats] = row(fleet, 'idle: door / NATS', 1);
  const [errors, refusals] = row(fleet, 'errors / refusals of hosts', 1);
  const [called] = row('Processor time of one call', 'node of the function', 1);
  const [known] = row('A catalogue on every node', '1000 more on each of 10 nodes at once, all known on all', 1);
  const [catalogue] = row('A catalogue on every node', 'memory of the largest node then', 1);
  const [channel] = row('A channel of 64 MiB, in items of 64 KiB', 'far writer', 2);
  const perCall = Math.round((parseFloat(door) / 100 / MEASURED_CALLS) * 1e6);
  const cores = (percent, times) => ((parseFloat(percent) / 100) * times).toFixed(1);
  return table(
    ['Part', 'Load', 'Measured', 'Gives'],
    [
      [
        'host',
        '100 sandboxes, 1 create/s',
        `create ${create}, a command ${exec}, on namespaces`,
        'memory decides: 100 × 512 MiB',
      ],
      [
        'door',
        '12,000 calls/s',
        `1,000 simulated hosts, 1,000 creates and 2,000 commands a second: ${door} of a core, ${memory}, ${errors} errors, ${refusals} refusals`,
        `${perCall} µs a call: ${cores(door, SCALE)} cores; plan four doors`,
      ],
      ['host, called', '12 calls/s', `${called} of processor a call`, 'nothing'],
      [
        'NATS',
        'the same calls',
        `${nats} of a core in the run of the door`,
        `${cores(nats, SCALE)} cores, ${cores(nats, SCALE * 2)} with a route, over three servers`,
      ],
      [
        'reports',
        '1,000 hosts to 4 doors, each 1 s',
        `an idle door that hears 1,000 hosts: ${idleDoor} of a core, ${idleNats} for NATS`,
        '4,000/s; as doors, 1,000 nodes would report each 5 s, 200,000/s: use `--role host`',
      ],
      [
        'catalogue',
        'hosts that run the same workers',
        `ten nodes with 1,000 ids each: known everywhere in ${known}, ${catalogue}`,
        'one content for all hosts',
      ],
      [
        'large bodies',
        'images, files',
        `${channel} through a channel between nodes`,
        `${IMAGE_MIB} MiB in ${(IMAGE_MIB / parseFloat(channel)).toFixed(1)} s`,
      ],
      ['table of sandboxes', 'none', '', 'the node is in the id'],
    ],
  );
}

/** Finds a row by its heading and its label; returns the parts of one of its cells. */
function rowsOf(benchmarks) {
  const section = benchmarks.split('<!-- bench:cluster:begin -->')[1] ?? '';
  return (heading, label, column) => {
    const under = section.split(`\n### ${heading}\n`)[1]?.split('\n### ')[0] ?? '';
    const cells = under.split('\n').map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
    const found = cells.find((row) => row.includes(label))?.[column];
    if (found === undefined) throw new Error(`docs/benchmarks.md has no row "${label}" under "${heading}"`);
    return found.split(' / ');
  };
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`.replace('|  |', '| |'))
    .join('\n');
}
