/** Reads the logs of containers, which the executor's log pump writes. */
export { type LogWatch, watchLog } from "./changes.ts";
export { type EndLimits, endOfLog } from "./end.ts";
export { type ForwardLabels, ForwardSocket, forwardFrame, type SocketPath } from "./forward.ts";
export { previousLog, pruneLogs } from "./incarnations.ts";
export { JOURNAL_SOCKET, journalGreeting, journalLine } from "./journald.ts";
export { type Following, type ReadOptions, readLog } from "./read.ts";
export { type LogRecord, note, parseRecord, recordTime, renderRecord } from "./record.ts";
export { TextWriter } from "./text.ts";
