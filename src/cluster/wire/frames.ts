/**
 * Reads the frames of one node.
 *
 * Its calls carry their callers in full, and mostly the same ones: a caller is validated once and is then the same
 * object in every call, by which the engine recognizes its principal.
 */
import { asPlainFrame, toFrame, type Frame, type InvokeFrame } from '#protocol';

const NAMED = new Set(['namespace', 'caller', 'on_behalf_of']);
const MOST_CALLERS = 1_000;

type Vouched = Pick<InvokeFrame, 'caller' | 'on_behalf_of'>;

export class FrameReader {
  /** Callers by the text that the node sent for them. */
  readonly #known = new Map<string, Vouched>();

  /** Undefined when it is not a frame. */
  read(data: Uint8Array): Frame | undefined {
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString();
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return undefined;
    }
    const plain = asPlainFrame(value, NAMED);
    return plain?.type === 'invokefunction' ? this.#call(plain) : checked(value);
  }

  #call(frame: InvokeFrame): Frame | undefined {
    const { namespace, caller, on_behalf_of: named } = frame;
    // A node of ours sends every field; null and absent would have the same key.
    if (typeof namespace !== 'string' || caller == null || named == null) return checked(frame);
    const key = JSON.stringify([caller, named]);
    const known = this.#known.get(key);
    if (known) return Object.assign(frame, known);
    const read = checked(frame);
    if (read?.type !== 'invokefunction') return read;
    if (this.#known.size >= MOST_CALLERS) this.#known.clear();
    this.#known.set(key, { caller: read.caller, on_behalf_of: read.on_behalf_of });
    return read;
  }
}

function checked(value: unknown): Frame | undefined {
  const decoded = toFrame(value);
  return 'frame' in decoded ? decoded.frame : undefined;
}
