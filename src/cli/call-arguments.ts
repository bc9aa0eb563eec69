/** Turns the words of `workcell call` into a request: `key=value` pairs over a JSON object. */
import { UsageError } from './command.ts';

/** A value is JSON if it parses, else text; pairs override `--json`. */
export function toPayload(pairs: string[], json: string | undefined): unknown {
  const base = json === undefined ? {} : parseJson(json);
  if (pairs.length === 0) return base;
  if (typeof base !== 'object' || base === null || Array.isArray(base)) {
    throw new UsageError('--json must be an object when key=value pairs are given as well');
  }
  return { ...base, ...Object.fromEntries(pairs.map(toPair)) };
}

function toPair(word: string): [string, unknown] {
  const at = word.indexOf('=');
  if (at <= 0) throw new UsageError(`"${word}" is not a key=value pair; use --json for a whole request`);
  return [word.slice(0, at), looseJson(word.slice(at + 1))];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--json is not JSON: ${(error as Error).message}`);
  }
}

function looseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
