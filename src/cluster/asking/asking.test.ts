/** Both sides of polling on a wire that loses, delays, repeats and reorders: no NATS, no time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { rounds } from '#testing';
import { CallsIn } from './calls-in.ts';
import { CallsOut, type Answer } from './calls-out.ts';
import { ByteBudget } from './memory.ts';

const TICK_MS = 500;
/** After this time the wire is good; every call must be answered soon afterwards. */
const BAD_MS = 20_000;
const END_MS = 60_000;
const MiB = 1024 * 1024;

type Fate = 'lost' | 'twice' | number;
interface Plan {
  fates: Fate[];
  calls: { atMs: number; takesMs: number; bytes: number }[];
  /** Moments at which the caller publishes nothing. */
  downMs: number[];
}

/** One caller's node and one executor's node. Time moves in steps of 10 ms. */
class FakeWire {
  nowMs = 0;
  readonly runs = new Map<string, number>();
  readonly answers = new Map<string, string[]>();
  readonly out = new CallsOut(new ByteBudget(MiB));
  readonly in = new CallsIn(0);
  readonly #due: { atMs: number; run: () => void }[] = [];
  readonly #plan: Plan;
  #message = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    plan.calls.forEach(({ atMs, bytes }, at) => this.#later(atMs, () => this.#begin(`${at}`, bytes)));
    for (let atMs = TICK_MS; atMs < END_MS; atMs += TICK_MS) this.#later(atMs, () => this.#tick());
  }

  play(): void {
    while (this.#due.length > 0) {
      this.#due.sort((a, b) => a.atMs - b.atMs);
      const { atMs, run } = this.#due.shift()!;
      this.nowMs = atMs;
      run();
    }
  }

  #later(atMs: number, run: () => void): void {
    this.#due.push({ atMs, run });
  }

  /** The fate of a message is the next one of the plan, while the wire is bad. */
  #carry(deliver: () => void): void {
    const { fates } = this.#plan;
    const fate = this.nowMs < BAD_MS ? (fates[this.#message++ % Math.max(1, fates.length)] ?? 1) : 1;
    if (fate === 'lost') return;
    this.#later(this.nowMs + (fate === 'twice' ? 1 : fate), deliver);
    if (fate === 'twice') this.#later(this.nowMs + 700, deliver);
  }

  get #isDown(): boolean {
    return this.#plan.downMs.some((atMs) => this.nowMs >= atMs && this.nowMs < atMs + 1_000);
  }

  #begin(id: string, bytes: number): void {
    this.out.begin(id, new Uint8Array(bytes), this.nowMs);
    this.#send(id);
  }

  #send(id: string): void {
    if (this.#isDown) return;
    this.out.sent(id);
    this.#carry(() => {
      if (!this.in.arrived('a', id, this.nowMs)) return;
      this.runs.set(id, (this.runs.get(id) ?? 0) + 1);
      this.#later(this.nowMs + this.#plan.calls[Number(id)]!.takesMs, () => this.#finish(id));
    });
  }

  #finish(id: string): void {
    this.in.finished('a', id, this.nowMs, { result: new Uint8Array(10), isSent: true });
    this.#carry(() => this.#answer(id, 'ok'));
  }

  #answer(id: string, what: string): void {
    if (this.out.end(id)) this.answers.set(id, [...(this.answers.get(id) ?? []), what]);
  }

  #tick(): void {
    if (this.#isDown) return;
    for (const id of this.out.unsent()) this.#send(id);
    const ids = this.out.toAsk(this.nowMs);
    if (ids.length > 0) this.#carry(() => this.#ask(ids));
    for (const { from, id } of this.in.unasked(this.nowMs)) this.in.finished(from, id, this.nowMs);
  }

  #ask(ids: string[]): void {
    const { again, ...answer } = this.in.asked('a', ids, this.nowMs);
    for (const { id } of again) this.#carry(() => this.#answer(id, 'ok'));
    this.#carry(() => this.#heard(ids, answer));
  }

  #heard(ids: string[], answer: Answer): void {
    const { again, lost } = this.out.heard(ids, answer, this.nowMs);
    for (const id of again) this.#send(id);
    for (const id of lost) this.#answer(id, 'may-have-run');
  }
}

const fate: fc.Arbitrary<Fate> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 50 }) },
  { weight: 2, arbitrary: fc.constant<Fate>('lost') },
  { weight: 1, arbitrary: fc.constant<Fate>('twice') },
  { weight: 1, arbitrary: fc.integer({ min: 500, max: 12_000 }) },
);
const plan: fc.Arbitrary<Plan> = fc.record({
  fates: fc.array(fate, { minLength: 1, maxLength: 40, size: 'max' }),
  calls: fc.array(
    fc.record({
      atMs: fc.integer({ min: 0, max: BAD_MS }),
      takesMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
      bytes: fc.oneof({ weight: 5, arbitrary: fc.constant(100) }, { weight: 1, arbitrary: fc.constant(2 * MiB) }),
    }),
    { minLength: 1, maxLength: 12 },
  ),
  downMs: fc.array(fc.integer({ min: 0, max: BAD_MS }), { maxLength: 2 }),
});

test('cluster.P4 every call has one answer and runs at most once on a wire that loses, delays and repeats', () => {
  fc.assert(
    fc.property(plan, (given) => {
      const wire = new FakeWire(given);
      wire.play();
      given.calls.forEach((_, at) => {
        const answers = wire.answers.get(`${at}`) ?? [];
        expect(answers).toHaveLength(1);
        expect(wire.runs.get(`${at}`) ?? 0).toBeLessThanOrEqual(1);
        if (answers[0] === 'ok') expect(wire.runs.get(`${at}`)).toBe(1);
      });
    }),
    { numRuns: rounds(300, 5_000, 100_000) },
  );
});

test('a lost call is sent again and then runs', () => {
  const lossy = new FakeWire({
    fates: ['lost', 1, 1, 1, 1, 1, 1, 1],
    calls: [{ atMs: 10, takesMs: 5, bytes: 100 }],
    downMs: [],
  });
  lossy.play();
  expect([lossy.runs.get('0'), lossy.answers.get('0')]).toEqual([1, ['ok']]);
});

test('a call did not run if no copy found a listener; otherwise it may have run', () => {
  const out = new CallsOut(new ByteBudget(MiB));
  out.begin('x', new Uint8Array(1), 0);
  expect(out.didNotRun('x')).toBe(true);
  out.sent('x');
  expect(out.didNotRun('x')).toBe(false);
  out.unheard('x');
  expect(out.didNotRun('x')).toBe(true);
  out.sent('x');
  expect(out.didNotRun('x')).toBe(false);
});

test('a late copy of a stopped call does not run, and the call is reported as lost', () => {
  const served = new CallsIn(0);
  expect(served.arrived('a', 'x', 0)).toBe(true);
  served.stopped('a', 10);
  expect(served.arrived('a', 'x', 20)).toBe(false);
  expect(served.asked('a', ['x', 'y'], 30)).toEqual({ unknown: ['y'], lost: ['x'], again: [], memory_ms: 30 });
  expect(served.arrived('b', 'x', 40)).toBe(true);
});

test('results beyond the cap are dropped oldest first, their ids stay', () => {
  const served = new CallsIn(0);
  for (let at = 0; at < 5; at++) {
    served.arrived('a', `${at}`, 0);
    served.finished('a', `${at}`, 0, { result: new Uint8Array(20 * MiB), isSent: true });
  }
  const { lost, again } = served.asked('a', ['0', '1', '2', '3', '4'], 1_000);
  expect(lost).toEqual(['0', '1']);
  expect(again.map(({ id }) => id)).toEqual(['2', '3', '4']);
  expect(served.arrived('a', '0', 1_000)).toBe(false);
});

test('forgetting a result lowers the reported memory_ms', () => {
  const served = new CallsIn(0);
  served.arrived('a', 'old', 0);
  served.finished('a', 'old', 1_000);
  served.arrived('a', 'new', 40_000);
  served.finished('a', 'new', 40_000);
  expect(served.asked('a', ['old'], 40_000)).toMatchObject({ unknown: ['old'], memory_ms: 39_000 });
});
