import { expect, test } from 'vitest';

import type { ByteString } from '../../text/byte-string.ts';
import type { WalkPart } from '../../walk/walk-part.ts';
import { MAX_ANSWER_CHARS } from '../findings.ts';
import { Segments, type Segment } from './segments.ts';

const part = (dir: string, names?: string): WalkPart => ({ dir: dir as ByteString, names });
const findings = (texts: string) => ({ numbers: new Int32Array(), texts });

/** Hands out the first waiting segment. */
function next(segments: Segments, { maxWork = 100, shares = 1 } = {}): Segment {
  const segment = segments.waiting!;
  segments.give(segment, { maxWork, shares });
  return segment;
}

function taken(segments: Segments): string[] {
  const texts: string[] = [];
  for (let some = segments.takeFindings(); some; some = segments.takeFindings()) texts.push(some.texts);
  return texts;
}

test('matches are taken in order, whichever part is done first and whatever is left of it', () => {
  const segments = new Segments([part('a', 'f1\0f2\0f3'), part('', 'b/\0c/')]);
  const [first, second] = [next(segments, { maxWork: 2 }), next(segments, { maxWork: 13 })];
  expect([first.parts, second.parts]).toEqual([[part('a', 'f1\0f2')], [part('a', 'f3'), part('', 'b/')]]);

  segments.finish(second, findings('second'), [part('b', 'late')]);
  expect(taken(segments)).toEqual([]);
  segments.finish(first, findings('first'), []);
  expect(taken(segments)).toEqual(['first', 'second']);

  const third = next(segments);
  expect(third.parts).toEqual([part('b', 'late')]);
  const fourth = next(segments);
  segments.finish(fourth, findings('fourth'), []);
  segments.giveBack(third);
  expect(next(segments)).toBe(third);
  segments.finish(third, findings('third'), []);
  expect([taken(segments), segments.isEmpty]).toEqual([['third', 'fourth'], true]);
});

test('when much text waits for what comes before it, only that is given out', () => {
  const segments = new Segments([part('', 'a\0b\0c\0d')]);
  const [first, second] = [next(segments, { maxWork: 1 }), next(segments, { maxWork: 1 })];
  segments.finish(second, findings('x'.repeat(2 * MAX_ANSWER_CHARS + 1)), []);
  expect(segments.waiting).toBe(undefined);

  segments.giveBack(first);
  expect(segments.waiting).toBe(first);
  segments.finish(next(segments), findings('first'), []);
  expect(taken(segments)).toHaveLength(2);
  expect(segments.waiting?.parts).toEqual([part('', 'c\0d')]);
});

test('no process gets more than a share of all that waits, however little that seems to be', () => {
  const segments = new Segments([part('', 'a/\0b/\0c/\0d/\0e/\0f/\0g/\0h/')]);
  const given = () => next(segments, { shares: 4 }).parts.map(({ dir, names }) => `${dir}:${names}`);
  expect([given(), given()]).toEqual([[':a/\0b/'], [':c/\0d/']]);

  const [third] = [next(segments, { shares: 4 })];
  expect(third.parts).toEqual([part('', 'e/')]);
  segments.finish(third, findings(''), [part('e', 'x\0y\0z/')]);
  expect([given(), given(), given(), given()]).toEqual([['e:x\0y\0z/'], [':f/'], [':g/'], [':h/']]);
});
