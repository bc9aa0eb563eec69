/** How a measured number is printed. A unit also says which direction is better. */

export const time = { better: 'lower', format: formatMs };

export const rate = { better: 'higher', format: (perSecond) => `${formatNumber(perSecond)}/s` };

export function formatMs(ms) {
  if (ms >= 1000) return `${formatNumber(ms / 1000)} s`;
  if (ms >= 1) return `${formatNumber(ms)} ms`;
  return `${formatNumber(ms * 1000)} µs`;
}

/** Three digits say all that a noisy measurement knows. */
export function formatNumber(value) {
  if (value >= 1000) return Number(value.toPrecision(3)).toLocaleString('en-US');
  return value >= 1 ? value.toPrecision(3) : value.toFixed(value >= 0.1 ? 2 : 3);
}
