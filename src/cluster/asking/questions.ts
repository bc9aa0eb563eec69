/** Polls a peer about the calls that it works on, and notices when it has no subscriber. */
import { ASK_TIMEOUT_MS, JUST_CONNECTED_MS } from '../limits.ts';
import type { Peer } from '../members/peer.ts';
import { AnswerSchema, MAX_ASK_BYTES } from '../wire/ask.ts';
import { readAs, toBytes } from '../wire/json.ts';
import { NothingListens, type Wire } from '../wire/nats.ts';
import type { Subjects } from '../wire/subjects.ts';

interface QuestionsParts {
  wire: Wire;
  subjects: Subjects;
  /** Called when the peer has had no subscriber for long enough. */
  onDeaf: (peer: Peer) => void;
}

export class Questions {
  readonly #parts: QuestionsParts;

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  async ask(peer: Peer, { isUrgent = false } = {}): Promise<void> {
    const { wire, subjects } = this.#parts;
    const calls = peer.link.calls.toAsk(performance.now(), { isUrgent });
    if (calls.length === 0 || peer.isBeingAsked || !wire.isUp) return;
    peer.isBeingAsked = true;
    try {
      const data = await wire.request(subjects.toNode('ask', peer.address), toBytes({ calls }), ASK_TIMEOUT_MS);
      const answer = readAs(AnswerSchema, data, MAX_ASK_BYTES);
      if (!answer) return;
      peer.heard(performance.now());
      peer.link.heard(calls, answer);
    } catch (error) {
      if (error instanceof NothingListens) this.noListenerAt(peer);
    } finally {
      peer.isBeingAsked = false;
    }
  }

  /** Ignored just after a connection: a server also answers so while other nodes dial it. */
  noListenerAt(peer: Peer): void {
    const { wire, onDeaf } = this.#parts;
    if (!wire.isUp || wire.forMs < JUST_CONNECTED_MS) return;
    if (peer.noListener(performance.now())) onDeaf(peer);
  }
}
