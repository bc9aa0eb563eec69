/** The guest agent as a program for this machine's processor. */
import { buildProgram, sourcePath } from './c-program.ts';

const SOURCES = ['agent.c', 'agent-files.c', 'agent.h'];

export async function buildAgent(cacheDir: string): Promise<string> {
  return buildProgram({ name: 'agent', sources: SOURCES.map((name) => sourcePath(name, import.meta.url)), cacheDir });
}
