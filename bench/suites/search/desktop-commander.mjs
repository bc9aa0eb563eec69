/** A content search of desktop-commander: started with one call, then asked for until it says that it is complete. */
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 2;

export async function searchByPeer(peer, path, pattern) {
  const started = await peer.call('start_search', {
    path,
    pattern,
    searchType: 'content',
    literalSearch: true,
    ignoreCase: false,
    includeHidden: true,
    maxResults: 1000,
    contextLines: 0,
    earlyTermination: false,
  });
  const [, sessionId] = /session: (\S+)/i.exec(started);
  for (let text = started; !/complete/i.test(text);) {
    await sleep(POLL_MS);
    text = await peer.call('get_more_search_results', { sessionId, offset: 0, length: 1000 });
  }
}
