/**
 * The order of the test files: in each project, what takes longest begins first, so that no processor waits for it at
 * the end. Projects follow each other, because a process serves one project: those with a process for each file, those
 * that need no image, the backends, whose images are built meanwhile.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each about fifteen seconds or more; the others are in the order that Vitest gives them. */
const SLOW = [
  /backends\/\w+\/\w+-backend/,
  /security\/\w+\/(sandbox-qemu|shell-orphans|console-xss|access|undo)\./,
  /host\/(search\/indexed\/warm|children\/children|search\/search-engine)\./,
  /cluster\/(faults|sandboxes)\./,
  /e2e\/\w+\/(console|guides)/,
  /functions\/(network|jobs)\./,
];

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const slow = SLOW.flatMap((pattern) => sorted.filter(({ moduleId }) => pattern.test(moduleId)));
    const slowFirst = [...slow, ...sorted.filter((file) => !slow.includes(file))];
    return slowFirst.toSorted((a, b) => turnOf(a) - turnOf(b));
  }
}

function turnOf({ project }: TestSpecification): number {
  const { isolate, sequence, env } = project.config;
  return 10 * sequence.groupOrder + (isolate ? 0 : 1) + ('WORKCELL_TEST_BACKEND' in env ? 1 : 0);
}
