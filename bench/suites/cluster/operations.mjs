/**
 * Requests of the parent to a program that has a connection to an engine: echoes, one end of a channel, its processor
 * time.
 */
import { ECHO } from '../bus/echo-worker.mjs';
import { measure } from '../bus/measure.mjs';

const ITEM = Buffer.alloc(64 * 1024, 0x61);

export function operationsOf(connection) {
  const operations = {
    async echo({ namespace, ...workload }) {
      const before = process.cpuUsage();
      const measured = await measure((request) => connection.call(ECHO, request, { namespace }), workload);
      const { user, system } = process.cpuUsage(before);
      return { ...measured, cpuUs: (user + system) / workload.calls };
    },
    cpuUs() {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    open: () => connection.createChannel(),
    async write({ ref, mib }) {
      const writer = await connection.openWriter(ref);
      for (let left = mib * 16; left > 0; left--) await writer.write(ITEM);
      await writer.end();
      return 'written';
    },
    async read({ ref }) {
      let bytes = 0;
      for await (const item of await connection.openReader(ref)) bytes += item.length;
      return bytes;
    },
  };
  return ({ operation, ...given }) => operations[operation](given);
}
