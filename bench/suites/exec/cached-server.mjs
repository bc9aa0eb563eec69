/** One owner of children in a process that holds much memory, as a server with a warm search index does. */
import { Children } from '#host';
import { serveParent } from '../../processes.mjs';

const pages = Number(process.argv[2]) * 16;
const cache = new WebAssembly.Memory({ initial: pages, maximum: pages });
new Uint8Array(cache.buffer).fill(1);
const children = await Children.open();

serveParent({ bytes: cache.buffer.byteLength }, async () => {
  const started = performance.now();
  const child = await children.start({ argv: ['/bin/true'], env: { PATH: process.env.PATH }, maxOutputBytes: 1024 });
  await child.done;
  return { time: performance.now() - started };
});
