/** The order of the test files: what takes longest begins first, so that no processor waits for it. None of these needs an image. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each a minute or more; the others are in the order that Vitest gives them. */
const SLOW = [/backends\/\w+\/\w+-backend/, /sandbox-qemu/, /e2e\/(console|guides)/, /functions\/network/];

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const slow = SLOW.flatMap((pattern) => sorted.filter(({ moduleId }) => pattern.test(moduleId)));
    return [...slow, ...sorted.filter((file) => !slow.includes(file))];
  }
}
