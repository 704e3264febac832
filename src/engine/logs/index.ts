/** Reads the logs of containers, which the executor's log pump writes. */

export { type EndLimits, endOfLog } from "./end.ts";
export { fluentdEntry } from "./fluentd.ts";
export { FluentdSender } from "./fluentd-sender.ts";
export {
  type ForwardLabels,
  ForwardSocket,
  forwardFrame,
  JOURNAL_SOCKET,
  journalGreeting,
  journalLine,
  type Sender,
  type SocketPlace,
} from "./forward.ts";
export { type Following, type LogWatch, type ReadOptions, readLog, watchLog } from "./read.ts";
export { messagesFor, type Speaker, senderTo, tagText } from "./receivers.ts";
export { type LogRecord, note, parseRecord, recordTime, renderRecord, TextWriter } from "./record.ts";
export { previousLog, pruneLogs } from "./segments.ts";
