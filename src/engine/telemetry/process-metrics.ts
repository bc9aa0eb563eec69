/** Memory, processor time and load of this process, by the names that dashboards for Prometheus know. */
import { performance } from 'node:perf_hooks';

import { counter, gauge, type Metric } from '#contract';

export function processMetrics(): Metric[] {
  const { rss, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const { active } = performance.eventLoopUtilization();
  return [
    gauge('process_resident_memory_bytes', 'Memory of the server, without its child processes.', rss),
    gauge('nodejs_heap_size_used_bytes', 'Memory that JavaScript values use.', heapUsed),
    gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the heap.', external),
    counter('process_cpu_seconds_total', 'Processor time of the server.', (user + system) / 1e6),
    gauge(
      'process_start_time_seconds',
      'When the server started, in seconds since 1970.',
      performance.timeOrigin / 1000,
    ),
    counter('workcell_event_loop_busy_seconds_total', 'Time in which the event loop worked.', active / 1000),
  ];
}
