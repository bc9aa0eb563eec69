/** The bus wire as data: frames, ids, errors, channels and the link that carries them. */
export {
  CHANNEL_CHUNK_BYTES,
  ChannelBroken,
  ChannelRefSchema,
  channelPath,
  chunksOf,
  isStreamEnd,
  type ChannelEnds,
  type ChannelItem,
  type ChannelReader,
  type ChannelRef,
  type ChannelWriter,
} from './channel.ts';
export {
  handlerFailure,
  handlerText,
  readErrorBody,
  toErrorBody,
  type ErrorBody,
  type FailureFields,
} from './error-body.ts';
export {
  decodeFrame,
  FEATURE_CALLER,
  FEATURE_CANCEL,
  FEATURE_CHANGES,
  FEATURE_EVENTS,
  FEATURE_ON_BEHALF,
  KeptJsonSchema,
  toFrame,
  type Caller,
  type EventFrame,
  type Frame,
  type FrameOf,
  type InvokeFrame,
  type ResultFrame,
} from './frames.ts';
export { QuestionAnswerSchema, QuestionSchema, type Question, type QuestionAnswer } from './question.ts';
export { EVENT_RUNNING, type CallEvent } from './call-event.ts';
export { ChangeSchema, type Change, type ChangeHunk } from './change.ts';
export { asPlainFrame } from './plain-frame.ts';
export { OnBehalfSchema, type OnBehalf } from './on-behalf.ts';
export { gatherWrites } from './gather-writes.ts';
export { fromUrlPath, toToolName, toUrlPath, workerSegment } from './function-id.ts';
export { decoded, EncodedObject, type EncodedJson } from './encoded-object.ts';
export {
  encodeFrame,
  memoryLinks,
  type Dialer,
  type EncodedFrame,
  type FrameHead,
  type Link,
  type LinkEvents,
  type SendOutcome,
} from './link.ts';
