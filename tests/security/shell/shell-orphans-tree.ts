/**
 * Random trees of processes, as shell scripts, and the search for survivors of one.
 *
 * Every process of a tree has the tree's digits in its arguments or its environment.
 */
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

import { NOBODY_UID } from '#testing/basics';

/** How many ties to its job a process cuts. On the session rung, processes that cut all of them are not found again. */
export type Wildness = 'any' | 'keeps-its-groups' | 'keeps-its-environment';

export class Random {
  readonly seed: number;
  #state: number;

  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed;
  }

  /** From 0 up to and without `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }
}

/** Digits that no other process has. */
export function treeDigits(): string {
  return String(randomInt(10 ** 11, 10 ** 12));
}

/** Starts the tree in the background, and then runs `last`. */
export function treeScript(random: Random, digits: string, { wildness, last }: { wildness: Wildness; last: string }) {
  return `${branches(random, digits, { wildness, depth: 3 })}\n${last}`;
}

/** The living processes of a tree, by their arguments or environment. */
export function survivorsOf(digits: string): { pid: number; what: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const what = readOf(name, 'cmdline');
    const isFound = what.includes(digits) || readOf(name, 'environ').includes(digits);
    return isFound ? [{ pid: Number(name), what: what.replaceAll('\0', ' ').slice(0, 200) }] : [];
  });
}

function branches(random: Random, digits: string, { wildness, depth }: { wildness: Wildness; depth: number }): string {
  const sleep = `sleep 300.${digits}`;
  if (depth === 0) return `${sleep} &`;

  const inner = () => branches(random, digits, { wildness, depth: depth - 1 });
  const shell = (script: string) => `sh -c ${quoted(`: ${digits}\n${script}\nwait\n${sleep}`)}`;
  const kinds = [
    () => `${sleep} &`,
    // A child, one that is orphaned at once, and one whose parent ends a little later.
    () => `(${inner()}\nwait) &`,
    () => `( (${inner()}\nwait; ${sleep}) & )`,
    () => `(${inner()}\nsleep 0.03${digits}) &`,
    () => `setsid ${shell(inner())} &`,
    () => `(setsid ${shell(`setsid ${shell(inner())} &\nexit`)} &)`,
    () => `(exec 0<&- 1>&- 2>&-\n${inner()}\nwait) &`,
    () => `setsid ${shell(`exec 0<&- 1>&- 2>&-\n${inner()}`)} &`,
    () => `(trap "" HUP INT QUIT TERM USR1 USR2 ALRM CHLD\n${inner()}\nwait; ${sleep}) &`,
    () => `perl -e 'setpgrp(0, 0); exec @ARGV' ${shell(inner())} &`,
    // Processes that fork as fast as they can.
    () => `(while :; do sleep 0.00${digits} & wait; done) &`,
    () => `setsid ${shell(`while :; do (sleep 0.02${digits} &); sleep 0.01; done`)} &`,
    ...(wildness === 'keeps-its-environment' ? [] : [() => `env -i PATH="$PATH" setsid ${shell(inner())} &`]),
    ...(wildness === 'any' && process.getuid!() === 0
      ? [() => `setpriv --reuid=${NOBODY_UID} --regid=${NOBODY_UID} --clear-groups setsid ${shell(inner())} &`]
      : []),
  ];
  return Array.from({ length: 1 + random.below(3) }, () => random.pick(kinds)()).join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function readOf(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // It has exited, or is not readable by this user.
    return '';
  }
}
