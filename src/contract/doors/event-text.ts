/** An event of a call as a line of text, for people and models. */
import { EVENT_RUNNING, type CallEvent } from '#protocol';
import { cleanText } from '../clean-text.ts';

const MAX_CHARS = 200;

/** Undefined for an event without text. */
export function eventText({ type, message, elapsed_ms }: CallEvent): string | undefined {
  if (typeof message === 'string') return cleanText(message, MAX_CHARS);
  return type === EVENT_RUNNING ? `running for ${Math.round(Number(elapsed_ms) / 1000)} s` : undefined;
}
