import { expect, test } from 'vitest';

import { FindingsReader, FindingsWriter } from './findings.ts';

test.each([0, 1, 2, 3, 4, 5, 6])(
  'lines with neighbours are read as they were written, after %i other records',
  (others) => {
    const writer = new FindingsWriter({ maxMatches: 1000 });
    for (let i = 0; i < others; i++) writer.addSkipped(`skipped-${i}`, 'io');
    const lines = Array.from({ length: 300 }, (_, i) => ({
      line: i + 1,
      column: 1,
      text: `line ${i}`,
      before: [`before ${i}`],
      after: [`after ${i}`, ''],
    }));
    writer.addFile('f', { isPathMatch: false, lineCount: lines.length });
    for (const line of lines) writer.addLine(line);

    const reader = new FindingsReader(writer.take());
    for (let i = 0; i < others; i++)
      expect(reader.next()).toEqual({ kind: 'skipped', path: `skipped-${i}`, reason: 'io' });
    expect(reader.next()).toEqual({ kind: 'file', path: 'f', isPathMatch: false, lineCount: lines.length });
    expect(lines.map(() => reader.nextLine())).toEqual(lines);
    expect(reader.next()).toBeUndefined();
  },
);
