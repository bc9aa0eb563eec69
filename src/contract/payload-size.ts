/**
 * Whether a payload holds more values than any request needs.
 *
 * A schema tells every value that does not fit, which takes hundreds of times the memory of the value: a few megabytes
 * of zeros where texts belong would end the process. So they are counted first.
 */

/** As many files as one call may name, and all that is said beside them. */
export const MAX_PAYLOAD_VALUES = 131_072;

/** Items of lists and fields of objects, at any depth. */
export function hasTooManyValues(payload: unknown, most = MAX_PAYLOAD_VALUES): boolean {
  let count = 0;
  const pending = [payload];
  while (pending.length > 0) {
    const values = valuesIn(pending.pop());
    count += values.length;
    if (count > most) return true;
    for (const value of values) if (typeof value === 'object') pending.push(value);
  }
  return false;
}

function valuesIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  // Bytes in this process come as one.
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) ? Object.values(value) : [];
}
