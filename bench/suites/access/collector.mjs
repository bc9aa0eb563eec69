/** A collector of OTLP that reads every request, answers 200, and says how many requests there were. */
import { createServer } from 'node:http';

import { serveParent } from '../../processes.mjs';

let requests = 0;
const server = createServer((request, response) => {
  requests++;
  request.resume().on('end', () => response.setHeader('Content-Type', 'application/json').end('{}'));
});
server.listen(0, '127.0.0.1', () => {
  serveParent({ url: `http://127.0.0.1:${server.address().port}` }, () => requests);
});
