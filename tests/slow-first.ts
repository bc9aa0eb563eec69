/** The order of the test files: what takes longest begins first, so that no processor waits for it at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Each a minute or more; the others are in the order that Vitest gives them. */
const SLOW = /backends\/\w+\/\w+-backend|build-preset|e2e\/(console|guides)|functions\/network|sandbox-qemu/;

export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification) => SLOW.test(moduleId);
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
