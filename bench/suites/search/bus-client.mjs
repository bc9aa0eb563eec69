/** Searches over the bus with the published client, each timed from the call to the answer as objects. */
import { serveParent } from '../../processes.mjs';
import { connectSdk } from '../bus/sdk.mjs';

let sdk;

serveParent({}, async ({ url, query, isRegex = false, maxMatches = 1000 }) => {
  if (url) {
    sdk = await connectSdk(url);
    return {};
  }
  const payload = { query, regex: isRegex, max_matches: maxMatches, search_paths: false };
  const started = performance.now();
  const { content_matches: matches } = await sdk.trigger({ function_id: 'coder::search', payload });
  return { time: performance.now() - started, lines: matches.length };
});
