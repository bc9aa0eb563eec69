/**
 * This node in its cluster: reports of itself, the peers it hears, and the questions after calls.
 *
 * Nothing is stored and nothing is elected: each node reports its own state, and a peer that is silent for longer than
 * its lease is gone.
 */
import { randomBytes } from 'node:crypto';

import { ConfigError, type Log } from '#contract';
import type { Elsewhere, Engine, NodeRow } from '#engine';
import { CallsIn } from './asking/calls-in.ts';
import { ByteBudget } from './asking/memory.ts';
import { FarChannels } from './channels/far-channels.ts';
import * as limits from './limits.ts';
import { Blocks } from './members/blocks.ts';
import { OwnCatalogue } from './members/catalogue.ts';
import { Catalogues } from './members/catalogues.ts';
import { Directory } from './members/directory.ts';
import { Peer } from './members/peer.ts';
import { NodeLink, type LinkParts } from './node-link.ts';
import type { ClusterSettings } from './settings.ts';
import { AnswerSchema, AskSchema, MAX_ASK_BYTES } from './wire/ask.ts';
import { BeatSchema, type Beat } from './wire/beat.ts';
import { Bodies } from './wire/bodies.ts';
import { readAs, toBytes } from './wire/json.ts';
import { NobodyListens, NotPermitted, Wire, type Message } from './wire/nats.ts';
import { senderOf, Subjects, unheardCall, type Address, type ToNode } from './wire/subjects.ts';

const MAX_KEPT_CALL_BYTES = 64 * 1024 * 1024;
/** A server may answer that nothing listens while other nodes dial it again. */
const JUST_CONNECTED_MS = 1_000;

export class Cluster implements Elsewhere {
  readonly self: Address;
  readonly #engine: Engine;
  readonly #settings: ClusterSettings;
  readonly #version: string;
  readonly #log: Log;
  readonly #joinedAtMs = Date.now();
  readonly #subjects: Subjects;
  readonly #wire: Wire;
  readonly #parts: LinkParts;
  readonly #bodies: Bodies;
  readonly #served = new CallsIn(performance.now());
  readonly #peers = new Map<string, Peer>();
  readonly #own = new OwnCatalogue();
  readonly #blocks: Blocks;
  readonly #catalogues: Catalogues;
  readonly #directory: Directory;
  readonly #channels: FarChannels;
  readonly #timers: NodeJS.Timeout[] = [];
  #lastTickMs = performance.now();
  #upSinceMs = 0;
  #downSinceMs: number | undefined = performance.now();

  constructor(engine: Engine, settings: ClusterSettings, { version, log }: { version: string; log: Log }) {
    this.#engine = engine;
    this.#settings = settings;
    this.#version = version;
    this.#log = log;
    this.self = { name: settings.node, id: randomBytes(4).toString('hex') };
    this.#subjects = new Subjects(settings.cluster, this.self);
    this.#wire = new Wire(settings, log, { up: () => this.#up(), down: () => this.#down() });
    this.#bodies = new Bodies(this.#wire, this.#subjects);
    const budget = new ByteBudget(MAX_KEPT_CALL_BYTES);
    this.#parts = {
      wire: this.#wire,
      subjects: this.#subjects,
      bodies: this.#bodies,
      served: this.#served,
      budget,
    };
    const { bodies } = this.#parts;
    this.#blocks = new Blocks({ wire: this.#wire, subjects: this.#subjects, bodies, own: this.#own });
    this.#directory = new Directory(engine, settings, this.#peers);
    const shared = { blocks: this.#blocks, directory: this.#directory, peers: this.#peers, log };
    this.#catalogues = new Catalogues(shared);
    const { channels } = engine;
    this.#channels = new FarChannels({ channels, wire: this.#wire, subjects: this.#subjects, peers: this.#peers });
  }

  get isUp(): boolean {
    return this.#wire.isUp;
  }

  get isReady(): boolean {
    return this.isUp;
  }

  /** Throws when the server refuses this node, or another node has its name. */
  async join(): Promise<void> {
    this.#engine.join(this);
    this.#engine.channels.join(this.self.id, (ref) => this.#channels.find(ref));
    this.#own.update(this.#sharedFunctions());
    this.#subscribe();
    try {
      await this.#wire.open();
      await this.#refuseTakenName();
    } catch (error) {
      await this.#wire.close();
      throw error;
    }
    this.#engine.onFunctionsChanged(() => {
      if (this.#own.update(this.#sharedFunctions())) this.#beat();
    });
    this.#timers.push(setInterval(() => this.#tick(), limits.TICK_MS).unref());
    this.#beat();
    this.#beatLater();
  }

  async leave(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#wire.publish(this.#subjects.toAll('leave'), toBytes({}));
    for (const peer of this.#peers.values()) this.#lose(peer, 'this node stops');
    await this.#wire.close();
  }

  resolve: Elsewhere['resolve'] = (...asked) => this.#directory.resolve(...asked);
  namespaceHere: Elsewhere['namespaceHere'] = (namespace) => this.#directory.namespaceHere(namespace);
  isShared: Elsewhere['isShared'] = (fn) => this.#directory.isShared(fn);
  nodesWith: Elsewhere['nodesWith'] = (functionId) => this.#directory.nodesWith(functionId);
  list: Elsewhere['list'] = (node) => this.#directory.list(node);

  nodes(): NodeRow[] {
    const { roles, aliases, labels } = this.#settings;
    const self: NodeRow = {
      ...this.self,
      ...{ roles, aliases, labels, version: this.#version, url: this.#engine.httpUrl, joined_ms: this.#joinedAtMs },
      state: this.isUp ? 'up' : 'cut off',
      self: true,
      heard_ms_ago: 0,
      calls_out: 0,
      calls_in: 0,
      functions: this.#sharedFunctions().length,
    };
    const others = [...this.#peers.values()].flatMap((peer) => {
      const counts = { calls_in: this.#served.countOf(peer.address.id), functions: this.#directory.countOf(peer) };
      return peer.row(performance.now(), counts) ?? [];
    });
    return [self, ...others.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
  }

  #sharedFunctions() {
    return this.#engine.functions.filter((fn) => this.isShared(fn));
  }

  #subscribe(): void {
    const listen = (kind: ToNode, take: (peer: Peer, message: Message) => void) =>
      this.#wire.subscribe(this.#subjects.fromNodes(kind), (message) => {
        const from = senderOf(message.subject);
        const peer = from && this.#peerAt(from);
        if (!peer) return;
        peer.heard(performance.now());
        take(peer, message);
      });
    listen('call', ({ link }, { data }) => link.take('call', data));
    listen('result', ({ link }, { data }) => link.take('result', data));
    listen('cancel', ({ link }, { data }) => link.takeCancel(data));
    listen('ask', ({ link }, message) => {
      const asked = readAs(AskSchema, message.data, MAX_ASK_BYTES);
      if (asked) message.respond(toBytes(link.answerTo(asked.calls)));
    });
    listen('piece', ({ address }, message) => this.#bodies.give(message, address));
    listen('chan', (peer, message) => this.#channels.take(message, peer));
    listen('block', ({ address }, message) => this.#blocks.give(message, address));
    this.#wire.subscribe(this.#subjects.fromOwnName, (message) => message.respond(toBytes({})));
    this.#wire.subscribe(this.#subjects.fromNobody, (message) => this.#takeUnheard(message));
    if (!this.#settings.roles.includes('door')) return;
    this.#wire.subscribe(this.#subjects.fromAll('beat'), (message) => this.#takeBeat(message));
    this.#wire.subscribe(this.#subjects.fromAll('hello'), () => this.#beat());
    this.#wire.subscribe(this.#subjects.fromAll('leave'), ({ subject }) => {
      const peer = this.#peers.get(senderOf(subject)?.id ?? '');
      if (peer) this.#lose(peer, 'it left');
    });
  }

  /** The server says at once when nothing listens; an answer is the other node's. */
  async #refuseTakenName(): Promise<void> {
    const { ownName } = this.#subjects;
    const { name } = this.self;
    const isTaken = await this.#wire.request(ownName, toBytes({}), limits.ASK_TIMEOUT_MS).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof NotPermitted)) return false;
        throw new ConfigError(
          `the NATS user of this node may not be node ${name} of this cluster: see workcell cluster config`,
        );
      },
    );
    if (isTaken) throw new ConfigError(`a node named ${name} is in this cluster already: give --node NAME`);
  }

  #up(): void {
    this.#upSinceMs = performance.now();
    const wasDownMs = this.#downSinceMs === undefined ? 0 : this.#upSinceMs - this.#downSinceMs;
    this.#downSinceMs = undefined;
    this.#log.info('connected to NATS', { server: this.#wire.server, after_ms: Math.round(wasDownMs) });
    for (const peer of this.#peers.values()) {
      peer.excuse(this.#upSinceMs);
      peer.link.resume();
      void this.#ask(peer, { isUrgent: true });
    }
    this.#wire.publish(this.#subjects.toAll('hello'));
    this.#beat();
  }

  #down(): void {
    this.#downSinceMs = performance.now();
    this.#log.warn('the connection to NATS is down; calls to other nodes wait for it', {});
  }

  #beat(): void {
    const beat: Beat = {
      v: 1,
      every_ms: this.#beatMs,
      conn: Math.max(1, this.#wire.connections),
      joined_ms: this.#joinedAtMs,
      state: 'up',
      version: this.#version,
      roles: this.#settings.roles,
      aliases: this.#settings.aliases,
      catalogue: this.#own.hash,
      now_ms: Date.now(),
      labels: this.#settings.labels,
      url: this.#engine.httpUrl,
    };
    this.#wire.publish(this.#subjects.toAll('beat'), toBytes(beat));
  }

  get #beatMs(): number {
    return Math.max(limits.BEAT_MS, this.#peers.size * 5);
  }

  #beatLater(): void {
    const timer = setTimeout(() => {
      this.#beat();
      this.#beatLater();
    }, this.#beatMs).unref();
    this.#timers[1] = timer;
  }

  #takeBeat({ subject, data }: Message): void {
    const from = senderOf(subject);
    const beat = readAs(BeatSchema, data, limits.MAX_BEAT_BYTES);
    if (!from || !beat || from.id === this.self.id) return;
    const isNew = !this.#peers.has(from.id);
    const peer = this.#peerAt(from);
    if (!peer) return;
    const former = peer.beat;
    peer.beat = beat;
    peer.heard(performance.now());
    if (isNew) this.#welcome(peer);
    if (former && former.conn !== beat.conn) void this.#ask(peer, { isUrgent: true });
    if (beat.catalogue !== undefined && former?.catalogue !== beat.catalogue) void this.#catalogues.read(peer);
  }

  /** A restarted node has its former name: the one before it is gone. */
  #welcome(peer: Peer): void {
    this.#log.info('a node joined', { node: peer.address.name });
    const { name, id: ownId } = peer.address;
    const isFormer = ({ address, beat }: Peer) =>
      address.name === name && address.id !== ownId && (beat?.joined_ms ?? 0) < peer.beat!.joined_ms;
    for (const former of [...this.#peers.values()].filter(isFormer)) this.#lose(former, 'it restarted');
    this.#beat();
  }

  /** The peer at this address; made when there is room, since a call may come before the first beat. */
  #peerAt(address: Address): Peer | undefined {
    const known = this.#peers.get(address.id);
    if (known) return known.address.name === address.name ? known : undefined;
    if (this.#peers.size >= limits.MAX_PEERS || !this.#engine.hasRoom) return undefined;
    const link = new NodeLink(address, this.#parts);
    const session = this.#engine.connect(link, { remoteAddress: `nats:${address.name}`, node: address });
    const peer = new Peer(link, session, performance.now());
    this.#peers.set(address.id, peer);
    return peer;
  }

  #lose(peer: Peer, why: string): void {
    if (!this.#peers.delete(peer.address.id)) return;
    this.#log.info('a node is gone', { node: peer.address.name, why });
    peer.link.close(why);
    this.#directory.remove(peer, why, performance.now());
    this.#catalogues.dropUnused();
  }

  #takeUnheard({ subject, isNobody }: Message): void {
    const unheard = isNobody ? unheardCall(subject) : undefined;
    const peer = unheard && this.#peers.get(unheard.to.id);
    if (!peer) return;
    peer.link.unheard(unheard.callId);
    this.#noListenerAt(peer);
  }

  #noListenerAt(peer: Peer): void {
    const now = performance.now();
    if (!this.isUp || now - this.#upSinceMs < JUST_CONNECTED_MS) return;
    if (peer.noListener(now)) this.#lose(peer, 'nothing listens there');
  }

  async #ask(peer: Peer, { isUrgent = false } = {}): Promise<void> {
    const calls = peer.link.calls.toAsk(performance.now(), { isUrgent });
    if (calls.length === 0 || peer.isBeingAsked || !this.isUp) return;
    peer.isBeingAsked = true;
    try {
      const subject = this.#subjects.toNode('ask', peer.address);
      const data = await this.#wire.request(subject, toBytes({ calls }), limits.ASK_TIMEOUT_MS);
      const answer = readAs(AnswerSchema, data, MAX_ASK_BYTES);
      if (!answer) return;
      peer.heard(performance.now());
      peer.link.heard(calls, answer);
    } catch (error) {
      if (error instanceof NobodyListens) this.#noListenerAt(peer);
    } finally {
      peer.isBeingAsked = false;
    }
  }

  #tick(): void {
    const now = performance.now();
    const isLate = now - this.#lastTickMs > limits.TICK_MS + limits.LATE_TICK_MS;
    this.#lastTickMs = now;
    const downMs = this.#downSinceMs === undefined ? 0 : now - this.#downSinceMs;
    if (isLate || downMs > 0) {
      for (const peer of this.#peers.values()) peer.excuse(now);
      this.#served.excuse(now);
    }
    for (const peer of this.#peers.values()) {
      if (downMs > limits.CUT_OFF_MS) this.#lose(peer, 'this node is cut off');
      else if (peer.isSilent(now)) this.#lose(peer, 'it is silent');
      else void this.#ask(peer);
    }
    this.#channels.sweep(now);
    for (const { from, id: call } of this.#served.unasked(now)) this.#peers.get(from)?.link.stopUnasked(call);
  }
}
