/** A question to the caller of a call, whether its own person approves it, and the answer: both are events of the call. */
import { z } from 'zod';

/** From the engine, to a caller whose call has `takes_questions`. */
export const QuestionSchema = z.object({
  type: z.literal('question'),
  /** Id of the call that waits: this one, or one that is made for it. */
  id: z.string(),
  function_id: z.string(),
  /** The path, command line or pattern of the call. */
  line: z.string().nullish(),
  /** Shortened if large, secrets masked. */
  payload: z.unknown(),
  rule: z.string(),
  /** The operator's words. */
  reason: z.string().nullish(),
  /** Time of the automatic denial, in milliseconds since 1970. */
  until_ms: z.number(),
});
export type Question = Readonly<z.infer<typeof QuestionSchema>>;

/** From the caller, on the connection that made the call. */
export const QuestionAnswerSchema = z.object({
  type: z.literal('answer'),
  id: z.string(),
  approved: z.boolean(),
  /** Answer of the person, for the refused caller: `declined`. */
  why: z.string().optional(),
});
export type QuestionAnswer = Readonly<z.infer<typeof QuestionAnswerSchema>>;
