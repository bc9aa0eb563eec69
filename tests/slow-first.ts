/** The order of the test files: what takes longest begins first, so that no processor waits for it at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each about half a minute or more, those that need an image last; the others are in the order that Vitest gives them. */
const SLOW = [
  /backends\/\w+\/\w+-backend/,
  /security\/(sandbox-qemu|undo)\./,
  /host\/(children\/children|search\/indexed\/warm)\./,
  /e2e\/(console|guides)/,
  /functions\/network/,
];

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const slow = SLOW.flatMap((pattern) => sorted.filter(({ moduleId }) => pattern.test(moduleId)));
    return [...slow, ...sorted.filter((file) => !slow.includes(file))];
  }
}
