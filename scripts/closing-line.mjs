/**
 * The reporter that ends a test run with `N passed, N failed, N skipped`, after the names of failures.
 *
 * Whatever vitest calls an error counts as failed, also where no single test is to blame: a file that cannot
 * be loaded, a hook, an unhandled rejection. With WORKCELL_TEST_COUNTS set, the counts and the names go to that file as
 * JSON instead, for a caller that has more to add.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** Names and their errors are the end of a log; CI keeps about 60 lines of it. */
const MOST_NAMES = 15;
const MOST_CHARS = 200;

/** The names again, because vitest printed them a long log ago. `failures`: lines of text for each. */
export function closingLines({ passed, failed, skipped, failures }) {
  const rest = failures.length - MOST_NAMES;
  return [
    ...(failures.length > 0 ? ['Failed:'] : []),
    ...failures.slice(0, MOST_NAMES).map((lines) => lines.map((line) => line.slice(0, MOST_CHARS)).join('\n      ')),
    ...(rest > 0 ? [`and ${rest} more`] : []),
    `${passed} passed, ${failed} failed, ${skipped} skipped`,
  ].join('\n');
}

export default class ClosingLine {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
    const fail = (name, errors) => {
      counts.failed += 1;
      counts.failures.push([name, ...errors.slice(0, 1).map(firstLine)]);
    };
    for (const module of modules) {
      const file = `${module.relativeModuleId} (${module.project.name})`;
      if (module.errors().length > 0) fail(file, module.errors());
      for (const suite of module.children.allSuites())
        if (suite.errors().length > 0) fail(`${file} > ${suite.fullName}`, suite.errors());
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        if (state === 'failed') fail(`${file} > ${test.fullName}`, errors);
        else if (state === 'pending') fail(`${file} > ${test.fullName}`, [{ message: 'did not end' }]);
        else counts[state] += 1;
      }
    }
    for (const error of unhandledErrors) fail(origin(error), [error]);

    const file = process.env.WORKCELL_TEST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify(counts));
    else console.log(closingLines(counts));
  }
}

/** Vitest knows which test ran, which need not be the one to blame. */
function origin({ type = 'Unhandled error', VITEST_TEST_PATH: path, VITEST_TEST_NAME: name }) {
  const during = [path && relative(process.cwd(), path), name].filter(Boolean).join(' > ');
  return during ? `${type} during ${during}` : type;
}

function firstLine({ name, message }) {
  const [line] = stripVTControlCharacters(message ?? '')
    .trim()
    .split('\n');
  return [name, line].filter(Boolean).join(': ');
}
