export { DATA_MOST, encodeFrame, FRAMES, type Frame, FrameDecoder, type FrameName, ProtocolError, WINDOW } from "./frame.ts";
export {
  type ChannelName,
  type Credit,
  decodeCredit,
  decodeSize,
  encodeCredit,
  encodeSize,
  type Failure,
  type Hello,
  type Opening,
  parseFailure,
  type Size,
} from "./messages.ts";
export { Allowance, HostSession, type SessionEvent } from "./session.ts";
