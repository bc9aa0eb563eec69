/** Opens a terminal by the best method that works here: by calls of the C library, or by the program `script`. */
import { OwnTerminal } from './own-terminal.ts';
import { findScript, ScriptTerminal, type ScriptPrograms } from './script-terminal.ts';
import { terminalCalls } from './terminal-calls.ts';
import { NoTerminalError, type Terminal, type TerminalSize } from './terminal.ts';

export type OpenTerminal = (size: TerminalSize) => Terminal;

/** Throws `NoTerminalError` where neither works. */
export const openTerminal: OpenTerminal = (size) => {
  const calls = terminalCalls();
  return calls ? new OwnTerminal(calls, size) : openScriptTerminal(size);
};

let programs: ScriptPrograms | undefined;

export const openScriptTerminal: OpenTerminal = (size) => {
  programs ??= findScript();
  if (!programs) throw new NoTerminalError();
  return new ScriptTerminal(programs, size);
};
