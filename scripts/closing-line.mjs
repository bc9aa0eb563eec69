/**
 * The reporter that ends a test run with `N passed, N failed, N skipped`.
 *
 * Whatever vitest calls an error counts as failed, also where no single test is to blame: a file that cannot
 * be loaded, a hook, an unhandled rejection. With WORKCELL_TEST_COUNTS set, the counts go to that file as
 * JSON instead, for a caller that has more to add.
 */
import { writeFileSync } from 'node:fs';

export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

export default class ClosingLine {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) counts.failed += 1;
      for (const suite of module.children.allSuites()) if (suite.errors().length > 0) counts.failed += 1;
      for (const test of module.children.allTests()) counts[countedAs(test.result().state)] += 1;
    }

    const file = process.env.WORKCELL_TEST_COUNTS;
    if (file) writeFileSync(file, JSON.stringify(counts));
    else console.log(closingLine(counts));
  }
}

/** A test still pending at the end was interrupted. */
function countedAs(state) {
  return state === 'pending' ? 'failed' : state;
}
