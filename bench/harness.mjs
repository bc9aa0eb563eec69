/**
 * Interleaved rounds: every case once a round, in rotated order, so that whatever else the machine does hits
 * all cases alike.
 *
 * Compares the ratio to the base case within one round; the median of those ratios is reported.
 * Two medians divided by each other would let a busy minute of one case pass for a slow case.
 */
import { median, percentile } from './statistics.mjs';
import { markdownTable } from './report.mjs';
import { formatNumber, time } from './units.mjs';

const QUICK_ROUNDS = 3;

export class Harness {
  /** Few rounds: the numbers say that the suite works and no more. */
  isQuick;
  bars = [];
  #suite;
  #print;
  #sections = [];

  constructor({ suite, isQuick, print }) {
    this.isQuick = isQuick;
    this.#suite = suite;
    this.#print = print;
  }

  /** The report so far, as Markdown. */
  get markdown() {
    return this.#sections.join('\n\n');
  }

  /**
   * Runs the cases side by side and reports them as one table.
   *
   * A case is a function that does its work and returns `{ [measure]: number }`, or nothing: then the time it
   * took is its only measure.
   */
  async compare({ title, note, cases, base, measures = { time: { label: 'time', unit: time } }, rounds = 15 }) {
    const comparison = new Comparison(Object.keys(cases), Object.keys(measures));
    const count = this.isQuick ? QUICK_ROUNDS : rounds;
    const warmUps = this.isQuick ? 1 : 3;
    for (let round = -warmUps; round < count; round++) {
      for (const name of rotated(Object.keys(cases), Math.max(round, 0))) {
        const values = await timed(cases[name]);
        if (round >= 0) comparison.add(name, values);
      }
    }
    this.#say([`### ${title}`, note, `${count} rounds.`, tableOf(comparison, { base, measures })]);
    return comparison;
  }

  /** Reports a table that is counted, not measured in rounds. */
  table({ title, note, head, rows }) {
    this.#say([
      `### ${title}`,
      note,
      markdownTable(
        head,
        rows.map((row) => row.map(String)),
      ),
    ]);
  }

  /**
   * One goal and whether it was reached. Missing it is a result, not a failure of the benchmark. A suite numbers its
   * own; the report puts the area first, so that no promise or case has the same id.
   */
  bar({ id, goal, measured, met }) {
    this.bars.push({ id: `bench-${this.#suite}.${id}`, goal, measured, met });
  }

  /** Reports the bars; after the last comparison. */
  closeBars() {
    if (this.bars.length === 0) return;
    const rows = this.bars.map(({ id, goal, measured, met }) => [id, goal, measured, met ? 'yes' : 'no']);
    this.#say(['### Bars', markdownTable(['bar', 'goal', 'measured', 'met'], rows)]);
  }

  #say(blocks) {
    const text = blocks.filter((block) => block !== undefined).join('\n\n');
    this.#sections.push(text);
    this.#print(`\n${text}`);
  }
}

/** Measurements, round by round. */
class Comparison {
  #values = new Map();

  constructor(cases, measures) {
    for (const name of cases) this.#values.set(name, Object.fromEntries(measures.map((measure) => [measure, []])));
  }

  add(name, measured) {
    for (const [measure, values] of Object.entries(this.#values.get(name))) values.push(measured[measure]);
  }

  get cases() {
    return [...this.#values.keys()];
  }

  /** One number a round. */
  values(measure, name) {
    return this.#values.get(name)[measure];
  }

  median(measure, name) {
    return median(this.values(measure, name));
  }

  /** How many times the base's number this case's is, as the median over the rounds. */
  ratio(measure, name, base) {
    const baseValues = this.values(measure, base);
    return median(this.values(measure, name).map((value, round) => value / baseValues[round]));
  }
}

async function timed(work) {
  const started = performance.now();
  const measured = await work();
  return measured ?? { time: performance.now() - started };
}

/**
 * Reverses every second round: a case pays for disk writes of the case before it, which must not always be the same
 * one.
 */
function rotated(list, by) {
  const start = by % list.length;
  const order = [...list.slice(start), ...list.slice(0, start)];
  return by % 2 === 0 ? order : order.reverse();
}

function tableOf(comparison, { base, measures }) {
  const rows = Object.entries(measures).flatMap(([measure, { label, unit }]) =>
    comparison.cases.map((name, index) => {
      const values = comparison.values(measure, name);
      return [
        index === 0 ? `${label} (${unit.better} is better)` : '',
        name,
        unit.format(median(values)),
        `${unit.format(percentile(values, 0.1))} .. ${unit.format(percentile(values, 0.9))}`,
        formatNumber(comparison.ratio(measure, name, base)),
      ];
    }),
  );
  return markdownTable(['measure', 'case', 'median', 'p10 .. p90', `× ${base}`], rows);
}
