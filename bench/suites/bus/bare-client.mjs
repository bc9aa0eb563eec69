/** Calls through the bare broker, or the echo server itself: it does not know which. */
import { serveParent } from '../../processes.mjs';
import { dial } from './bare-socket.mjs';
import { measure } from './measure.mjs';

const socket = await dial(process.argv[2]);
const waiting = new Map();
let lastId = 0;

socket.on('message', (data) => {
  const { id, result } = JSON.parse(data);
  waiting.get(id)(result);
  waiting.delete(id);
});

function call(payload) {
  return new Promise((resolve) => {
    const id = ++lastId;
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, payload }));
  });
}

serveParent({}, (workload) => measure(call, workload));
