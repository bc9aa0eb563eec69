/**
 * Whether a payload holds more values than any request needs.
 *
 * zod reports every invalid value, which takes hundreds of times the memory of the value: a few megabytes
 * of zeros in a list of texts would end the process. So values are counted first.
 */

/** As many files as one call may name, and their options. */
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
  // Bytes in this process count as one value.
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) ? Object.values(value) : [];
}
