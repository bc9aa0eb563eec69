/**
 * The log on standard error: one readable line per entry on a terminal, one JSON object otherwise.
 *
 * Standard output is reserved for results and for protocols that own it.
 */
import type { Log, LogFields } from '#contract';
import { painter, type Colour, type Paint } from './colour.ts';
import { visible } from './render.ts';

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LEVELS)[number];

export function isLogLevel(text: string): text is LogLevel {
  return (LEVELS as readonly string[]).includes(text);
}

export interface LogSink {
  write(text: string): unknown;
  isTTY?: boolean;
}

export function terminalLog(level: LogLevel, sink: LogSink = process.stderr): Log {
  const least = LEVELS.indexOf(level);
  const at = (name: LogLevel) => (message: string, fields?: LogFields) => {
    if (LEVELS.indexOf(name) < least) return;
    sink.write(sink.isTTY ? readableLine(painter(sink), name, message, fields) : jsonLine(name, message, fields));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const COLOURS: Partial<Record<LogLevel, Colour>> = { debug: 'dim', warn: 'yellow', error: 'red' };

function readableLine(paint: Paint, level: LogLevel, message: string, fields: LogFields = {}): string {
  const details = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? visible(value) : JSON.stringify(value)}`,
  );
  return `${new Date().toISOString().slice(11, 19)} ${paint(COLOURS[level], level.padEnd(5))} ${[message, ...details].join(' ')}\n`;
}

function jsonLine(level: LogLevel, message: string, fields?: LogFields): string {
  return `${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`;
}
