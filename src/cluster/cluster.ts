/**
 * This node in its cluster: it sends reports, receives those of its peers, and polls them about calls.
 *
 * Nothing is stored and nothing is elected: each node reports its own state, and a peer that is silent for longer than
 * its lease is gone.
 */
import type { Log } from '#contract';
import type { OtherNodes, Engine, NodeRow } from '#engine';
import { CallsIn } from './asking/calls-in.ts';
import { ByteBudget } from './asking/memory.ts';
import { Questions } from './asking/questions.ts';
import { FarChannels } from './channels/far-channels.ts';
import * as limits from './limits.ts';
import { Announcer } from './members/announcer.ts';
import { Blocks } from './members/blocks.ts';
import { OwnCatalogue } from './members/catalogue.ts';
import { Catalogues } from './members/catalogues.ts';
import { Directory } from './members/directory.ts';
import { LostNodes } from './members/lost-nodes.ts';
import { Members } from './members/members.ts';
import type { OwnNode } from './members/own-node.ts';
import type { Peer } from './members/peer.ts';
import { answerTaken } from './members/refuse-taken.ts';
import { UnreadableReports } from './members/unreadable-reports.ts';
import type { ClusterSettings } from './settings.ts';
import { AskSchema, MAX_ASK_BYTES } from './wire/ask.ts';
import { Bodies } from './wire/bodies.ts';
import { readAs, toBytes } from './wire/json.ts';
import { Wire, type Message } from './wire/nats.ts';
import { NodeReportSchema, showsSame } from './wire/node-report.ts';
import { senderOf, Subjects, unheardCall, type Address, type ToNode } from './wire/subjects.ts';

const MAX_KEPT_CALL_BYTES = 64 * 1024 * 1024;

export interface ClusterParts {
  log: Log;
  ownNode: OwnNode;
}

export class Cluster implements OtherNodes {
  readonly ownNode: OwnNode;
  readonly #engine: Engine;
  readonly #settings: ClusterSettings;
  readonly #log: Log;
  readonly #subjects: Subjects;
  readonly #wire: Wire;
  readonly #bodies: Bodies;
  readonly #served = new CallsIn(performance.now());
  readonly #own = new OwnCatalogue();
  readonly #blocks: Blocks;
  readonly #members: Members;
  readonly #questions: Questions;
  readonly #catalogues: Catalogues;
  readonly #directory: Directory;
  readonly #channels: FarChannels;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #unreadable: UnreadableReports;
  #lastTickMs = performance.now();
  readonly #announcer: Announcer;

  constructor(engine: Engine, settings: ClusterSettings, { log, ownNode }: ClusterParts) {
    this.ownNode = ownNode;
    this.#engine = engine;
    this.#settings = settings;
    this.#log = log;
    this.#unreadable = new UnreadableReports(log);
    this.#subjects = new Subjects(settings.cluster, this.self);
    this.#wire = new Wire(settings, log, { up: (wasDownMs) => this.#up(wasDownMs), down: () => this.#down() });
    const shared = { wire: this.#wire, subjects: this.#subjects };
    this.#announcer = new Announcer({ ...shared, self: this.self, log, announce: () => this.#announce() });
    this.#bodies = new Bodies(this.#wire, this.#subjects);
    const bodies = this.#bodies;
    const lost = new LostNodes();
    this.#members = new Members({
      ...{ engine, lost, ownNode: this.ownNode, log },
      link: { ...shared, bodies, served: this.#served, budget: new ByteBudget(MAX_KEPT_CALL_BYTES) },
      onLost: (peer) => this.#forget(peer),
    });
    const { peers } = this.#members;
    this.ownNode.join({ peers, lost });
    this.#questions = new Questions({ ...shared, onDeaf: (peer) => this.#members.lose(peer, 'deaf') });
    this.#blocks = new Blocks({ ...shared, bodies, own: this.#own });
    this.#directory = new Directory({ selfId: this.self.id, engine, settings, peers, lost });
    this.#catalogues = new Catalogues({ blocks: this.#blocks, directory: this.#directory, peers, log });
    this.#channels = new FarChannels({ ...shared, channels: engine.channels, peers });
  }

  get self(): Address {
    return this.ownNode.self;
  }

  get isUp(): boolean {
    return this.#wire.isUp;
  }

  get isReady(): boolean {
    return this.isUp && !this.ownNode.isDraining;
  }

  /** Calls of other nodes that run here, without watches, and results that those nodes have not fetched yet. */
  get unanswered(): number {
    return this.#served.endingCount + this.#bodies.waitingFrames;
  }

  /** Throws when the server refuses this node, or another node has its name or its id. */
  async join(): Promise<void> {
    this.#engine.join(this);
    this.#engine.channels.join(this.self.id, (ref) => this.#channels.find(ref));
    this.#updateOwn();
    this.#subscribe();
    try {
      await this.#wire.open();
      await this.#announcer.joined();
    } catch (error) {
      this.#members.loseAll('stopping');
      await this.#wire.close();
      throw error;
    }
    this.#engine.onFunctionsChanged(() => {
      if (this.#updateOwn()) this.#sendReport();
    });
    this.#timers.push(setInterval(() => this.#tick(), limits.TICK_MS).unref());
    this.#sendReport();
    this.#sendReportLater();
  }

  async leave(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    if (this.#announcer.isUnique) this.#wire.publish(this.#subjects.toAll('leave'), toBytes({}));
    this.#members.loseAll('stopping');
    await this.#wire.close();
  }

  resolve: OtherNodes['resolve'] = (...asked) => this.#directory.resolve(...asked);
  namespacesHere: OtherNodes['namespacesHere'] = (namespace) => this.#directory.namespacesHere(namespace);
  isShared: OtherNodes['isShared'] = (fn) => this.#directory.isShared(fn);
  nodesWith: OtherNodes['nodesWith'] = (functionId) => this.#directory.nodesWith(functionId);
  list: OtherNodes['list'] = (node) => this.#directory.list(node);

  nodes(): NodeRow[] {
    const { isUp } = this;
    const self = this.ownNode.row({ isUp, url: this.#engine.httpUrl, functions: this.#sharedFunctions().length });
    const others = [...this.#members.peers.values()].flatMap((peer) => {
      const counts = { calls_in: this.#served.countOf(peer.address.id), functions: this.#directory.countOf(peer) };
      return peer.row(performance.now(), counts) ?? [];
    });
    return [self, ...others.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
  }

  drain(isDraining: boolean): NodeRow {
    if (this.ownNode.isDraining !== isDraining) this.#log.info(isDraining ? 'draining began' : 'draining ended', {});
    this.ownNode.isDraining = isDraining;
    this.#engine.nodesChanged();
    this.#sendReport();
    return this.nodes()[0]!;
  }

  #sharedFunctions() {
    return this.#engine.functions.filter((fn) => this.isShared(fn));
  }

  /** Returns whether the announcement of this node changed. */
  #updateOwn(): boolean {
    const before = this.#own.omitted;
    const hasChanged = this.#own.update(this.#sharedFunctions());
    const { omitted } = this.#own;
    if (omitted > 0 && omitted !== before)
      this.#log.warn('functions of this node are not announced to others: it has too many', {
        ...{ functions: omitted, most: limits.MAX_FUNCTIONS, most_bytes: limits.MAX_BLOCK_BYTES },
      });
    return hasChanged;
  }

  #subscribe(): void {
    const listen = (kind: ToNode, take: (peer: Peer, message: Message) => void) =>
      this.#wire.subscribe(this.#subjects.fromNodes(kind), (message) => {
        const peer = this.#members.sender(message.subject);
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
    this.#wire.subscribe(this.#subjects.fromUnheard, (message) => this.#takeUnheard(message));
    if (!this.#settings.roles.includes('door')) return;
    this.#wire.subscribe(this.#subjects.fromAll('beat'), (message) => this.#takeReport(message));
    this.#wire.subscribe(this.#subjects.fromAll('hello'), () => this.#sendReport());
    this.#wire.subscribe(this.#subjects.fromAll('join'), (message) =>
      message.respond(answerTaken(this.ownNode.nodeOf(senderOf(message.subject)?.id ?? ''))),
    );
    this.#wire.subscribe(this.#subjects.fromAll('leave'), ({ subject }) => {
      const from = senderOf(subject);
      if (from) this.#members.left(from);
    });
  }

  #up(wasDownMs: number): void {
    this.#log.info('connected to NATS', { server: this.#wire.server, after_ms: Math.round(wasDownMs) });
    for (const peer of this.#members.peers.values()) {
      peer.excuse(performance.now());
      peer.link.resume();
      void this.#questions.ask(peer, { isUrgent: true });
    }
    this.#engine.nodesChanged();
    this.#announcer.announce();
  }

  #announce(): void {
    this.#wire.publish(this.#subjects.toAll('hello'));
    this.#sendReport();
  }

  #down(): void {
    this.#engine.nodesChanged();
    this.#log.warn('the connection to NATS is down; calls to other nodes wait for it', {});
  }

  #sendReport(): void {
    if (!this.#announcer.isUnique) return;
    const report = this.ownNode.report({
      every_ms: this.#heartbeatMs,
      conn: Math.max(1, this.#wire.connections),
      catalogue: this.#own.hash,
      url: this.#engine.httpUrl,
    });
    this.#wire.publish(this.#subjects.toAll('beat'), toBytes(report));
  }

  get #heartbeatMs(): number {
    return Math.max(limits.HEARTBEAT_MS, this.#members.peers.size * 5);
  }

  #sendReportLater(): void {
    const timer = setTimeout(() => {
      this.#sendReport();
      this.#sendReportLater();
    }, this.#heartbeatMs).unref();
    this.#timers[1] = timer;
  }

  #takeReport({ subject, data }: Message): void {
    const from = senderOf(subject);
    if (!from || from.id === this.self.id) return;
    const report = readAs(NodeReportSchema, data, limits.MAX_HEARTBEAT_BYTES);
    if (!report) return this.#unreadable.warn(from.name, data);
    const heard = this.#members.report(from, report);
    if (!heard) return;
    const { peer, former } = heard;
    if (!former || !showsSame(former, report)) this.#engine.nodesChanged();
    if (!former) this.#sendReport();
    else if (former.conn !== report.conn) void this.#questions.ask(peer, { isUrgent: true });
    if (report.catalogue !== undefined && former?.catalogue !== report.catalogue) void this.#catalogues.read(peer);
  }

  #forget(peer: Peer): void {
    this.#engine.nodesChanged();
    this.#directory.remove(peer);
    this.#catalogues.dropUnused();
  }

  #takeUnheard({ subject, isUnheard }: Message): void {
    const unheard = isUnheard ? unheardCall(subject) : undefined;
    const peer = unheard && this.#members.peers.get(unheard.to.id);
    if (!peer) return;
    peer.link.unheard(unheard.callId);
    this.#questions.noListenerAt(peer);
  }

  #tick(): void {
    const now = performance.now();
    const isLate = now - this.#lastTickMs > limits.TICK_MS + limits.LATE_TICK_MS;
    this.#lastTickMs = now;
    const downMs = this.isUp ? 0 : this.#wire.forMs;
    const { peers } = this.#members;
    if (isLate || downMs > 0) {
      for (const peer of peers.values()) peer.excuse(now);
      this.#served.excuse(now);
    }
    for (const peer of peers.values()) {
      if (downMs > limits.CUT_OFF_MS) this.#members.lose(peer, 'cut off');
      else if (peer.isSilent(now)) this.#members.lose(peer, 'silent');
      else void this.#questions.ask(peer);
      if (peer.turnedLate(now)) this.#engine.nodesChanged();
    }
    this.#channels.sweep(now);
    for (const { from, id: call } of this.#served.unasked(now)) peers.get(from)?.link.stopUnasked(call);
  }
}
