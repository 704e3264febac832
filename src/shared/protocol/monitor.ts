/**
 * How the runtime starts the helper's monitor, which watches over a foreground container: options, each with one value, then what to remove at the
 * end, then `--` and the command that does the rest.
 */

/** number: of a process. descriptor: inherited; the monitor makes it close-on-exec. count: 64 bits without a sign. */
export type MonitorValue = "number" | "descriptor" | "count" | "text";

export const MONITOR_OPTIONS = {
  /** The process that is watched, and its pidfd where the kernel gives one. */
  init: "number",
  pidfd: "descriptor",
  /** The master of the container's terminal. */
  console: "descriptor",
  /** The program of the command, for execveat(2). */
  executable: "descriptor",
  /** ROOT/ID as the runtime has locked it, and its path: by both the monitor knows the directory from a later one of the same id. */
  state: "descriptor",
  "state-path": "text",
  trace: "descriptor",
  /** The container's notification socket, and the connected one of the host. */
  notify: "descriptor",
  "notify-host": "descriptor",
  /** A FIFO from which the sizes of the terminal come. */
  sizes: "descriptor",
  /** A FIFO from which comes when the container is killed: a line MILLISECONDS, from when it is read. */
  deadline: "descriptor",
  /** The exit record: its path, how it begins (JSON without the closing brace), and the file as it was written last. */
  record: "text",
  "record-text": "text",
  "record-fd": "descriptor",
  /** Reading ends of the container's output, where that is a pipe. Without them the monitor opens its own. */
  "stdout-reader": "descriptor",
  "stderr-reader": "descriptor",
  /** A file with the line `oom_kill N`, and the number before the container. */
  oom: "text",
  "oom-before": "count",
  /** With a record: the log of the container's output, how large one file of it may become, and how many there are. */
  log: "text",
  "log-size": "count",
  "log-files": "count",
  /** Gets one byte when everything is in place. */
  ready: "descriptor",
} as const satisfies Readonly<Record<string, MonitorValue>>;

type Kinds = typeof MONITOR_OPTIONS;
export type MonitorArguments = { readonly [K in keyof Kinds]?: Kinds[K] extends "text" ? string : number };

/** What is removed, in this order; each word stands before a path. Relative paths are below ROOT/ID. try-rmdir: others may use the directory, so it may stay. */
export const MONITOR_STEP = { rmdir: "--rmdir", tryRmdir: "--try-rmdir", unlink: "--unlink" } as const;

/** A descriptor of -1 is none. */
export function monitorArguments(options: MonitorArguments, steps: readonly string[], command: readonly string[]): string[] {
  const given = Object.entries(options).flatMap(([name, value]) => (value === -1 ? [] : [`--${name}`, String(value)]));
  return ["monitor", ...given, ...steps, "--", ...command];
}
