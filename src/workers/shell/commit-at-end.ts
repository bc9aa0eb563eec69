/**
 * A recorded job counts as ended only when its files are in the workspace: a caller that waited for it finds them, or
 * the reason in its output.
 */
import type { ExecutionResult, OutputRing } from '#host';
import type { JobWork } from '#job-functions';

export class CommitAtEnd {
  #result: Promise<ExecutionResult> | undefined;
  #settle: (why?: string) => void = () => {};
  /** Resolves to the reason if nothing was committed, else to undefined. */
  readonly #taken = new Promise<string | undefined>((resolve) => (this.#settle = resolve));

  /** Wraps the work: it is done when its files are in the workspace. */
  around(work: JobWork, ring: OutputRing): JobWork {
    this.#result = work.done;
    return {
      process: work.process,
      outputSoFar: () => work.outputSoFar(),
      kill: () => work.kill(),
      done: work.done.then(async (result) => {
        const why = await this.#taken;
        if (why === undefined) return result;
        const line = Buffer.from(why);
        ring.add('stderr', line);
        return { ...result, stderr: Buffer.concat([result.stderr, line]) };
      }),
    };
  }

  /** Commits the files of the layer, when no command runs in it any more. */
  async take(layer: string, take: (result: ExecutionResult) => Promise<void>): Promise<void> {
    try {
      if (this.#result) await take(await this.#result);
      this.#settle();
    } catch (error) {
      const { message } = error as Error;
      this.#settle(`workcell: ${message}. What the job did is in the open change ${layer}: change::diff shows it\n`);
      throw error;
    }
  }
}
