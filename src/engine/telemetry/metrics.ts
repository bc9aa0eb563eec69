/** All metrics of a server: of its calls, its queues, its process, and those that the assembler adds. */
import { gauge, joinMetrics, type Metric, type ReadMetrics } from '#contract';
import { CallMetrics } from './call-metrics.ts';
import { processMetrics } from './process-metrics.ts';

/** Things that wait or are open now. */
interface Queues {
  /** Calls that a worker works on. */
  readonly running: number;
  readonly waitingForApproval: number;
  readonly waitingForResume: number;
  readonly connections: number;
  readonly channels: number;
  /** Bytes that peers have not read. */
  readonly unsentBytes: number;
}

export class Metrics {
  readonly calls = new CallMetrics();
  readonly #queues: () => Queues;
  readonly #sources: ReadMetrics[] = [];

  constructor(queues: () => Queues) {
    this.#queues = queues;
  }

  add(source: ReadMetrics): void {
    this.#sources.push(source);
  }

  async read(): Promise<Metric[]> {
    const added = await Promise.all(this.#sources.map(async (read) => read()));
    return joinMetrics([...this.calls.read(), ...queueMetrics(this.#queues()), ...added.flat(), ...processMetrics()]);
  }
}

function queueMetrics(queues: Queues): Metric[] {
  const { running, waitingForApproval, waitingForResume, connections, channels, unsentBytes } = queues;
  return [
    gauge('workcell_calls_running', 'Calls that workers work on now.', running),
    gauge('workcell_calls_waiting', 'Calls that wait for a person, by what they wait for.', [
      { labels: { for: 'approval' }, value: waitingForApproval },
      { labels: { for: 'resume' }, value: waitingForResume },
    ]),
    gauge('workcell_connections', 'Peers that are connected to the bus, with those in this process.', connections),
    gauge('workcell_channels', 'Channels that are open.', channels),
    gauge('workcell_unsent_bytes', 'Bytes that wait for peers to read them.', unsentBytes),
  ];
}
