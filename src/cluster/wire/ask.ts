/** A poll about calls, and its answer. */
import { z } from 'zod';

export const MAX_ASK_BYTES = 512 * 1024;

const id = z.string().min(1).max(512);
export const AskSchema = z.object({ calls: z.array(id).max(8_000) });
export const AnswerSchema = z.object({ unknown: z.array(id), lost: z.array(id), memory_ms: z.number() });
