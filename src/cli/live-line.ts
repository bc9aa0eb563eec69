/** One line on standard error that is overwritten while work continues; nothing without a terminal. */
import { eventText, type CallOptions } from '#contract';

let isShown = false;

export function showLine(text: string): void {
  isShown = text !== '';
  if (process.stderr.isTTY) process.stderr.write(`\r${text.slice(0, process.stderr.columns - 1)}\x1b[K`);
}

export function clearLine(): void {
  if (isShown) showLine('');
}

/** Options of a call whose events are shown; none without a terminal, so that none are sent. */
export function showingEvents(): Pick<CallOptions, 'onEvent'> {
  if (!process.stderr.isTTY) return {};
  return { onEvent: (event) => showLine(eventText(event) ?? '') };
}
