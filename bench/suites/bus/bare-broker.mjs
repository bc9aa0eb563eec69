/**
 * The least a broker can be: any number of clients, one worker, messages matched by number.
 *
 * A client chooses its numbers freely, so the broker lends each call one of its own on the way to the worker.
 */
import { serveParent } from '../../processes.mjs';
import { listen } from './bare-socket.mjs';

const { server, url } = await listen();
const waiting = new Map();
let worker;
let lastId = 0;

server.on('connection', (socket, request) => {
  if (request.url === '/worker') {
    worker = socket;
    socket.on('message', takeResult);
  } else {
    socket.on('message', (data) => takeCall(socket, data));
  }
});

function takeCall(client, data) {
  const call = JSON.parse(data);
  const id = ++lastId;
  waiting.set(id, { client, id: call.id });
  call.id = id;
  worker.send(JSON.stringify(call));
}

function takeResult(data) {
  const result = JSON.parse(data);
  const { client, id } = waiting.get(result.id);
  waiting.delete(result.id);
  result.id = id;
  client.send(JSON.stringify(result));
}

serveParent({ url });
