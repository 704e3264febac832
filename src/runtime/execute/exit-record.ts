/**
 * create and run --detach with --exit-record: a monitor without a parent waits for the container and writes to a file how it ended. Any process can
 * read that file at any time (docs/decisions/0029-exit-record.md). Every change of the file is a rename.
 */
import { EXIT_PHASE, EXIT_RECORD_SCHEMA, type ExitRecord, type MonitorArguments, type ProcessId } from "../../shared/protocol/index.ts";
import type { memoryPressure } from "../cgroup/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import type { separateDescriptors } from "../host/index.ts";
import * as host from "../host/index.ts";
import type { Execution } from "./execution.ts";
import { type FreshFile, isAt, writeBeside } from "./fresh-file.ts";
import { type MonitorRecord, openFifo, openSizes } from "./monitor.ts";
import { checkOutputLog, type OutputLog, openOutputReaders } from "./output-log.ts";
import { rollbackError } from "./rollback.ts";
import { bootId } from "./root-mount.ts";

/** What create or run is asked for, as far as the record needs it. */
interface RecordedRequest {
  readonly id: string;
  readonly mode: "create" | "run";
  readonly detach: boolean;
  readonly consoleSocket?: string;
  readonly resizeFifo?: string;
  readonly deadlineFifo?: string;
  readonly preserveFds: number;
}

/** What the verbs themselves are made of: handed over, so that this module is small to load. */
export interface RecordedSteps<Request extends RecordedRequest> {
  readonly separateDescriptors: typeof separateDescriptors;
  /** Make the container. */
  readonly make: (request: Request & { readonly unattended: true }) => Execution;
  /** Called when it is made. */
  readonly made: (execution: Execution) => void;
  /** Become its monitor. */
  readonly watch: (execution: Execution, record: MonitorRecord) => void;
  readonly memoryPressure: typeof memoryPressure;
}

interface RecordFiles {
  /** Of the record. */
  readonly path: string;
  readonly outputLog: OutputLog | undefined;
}

/** A record without its phase. */
type Fields = Omit<ExitRecord, "phase">;

/** Does not return: the caller's process ends when the program runs or, of create, init waits; this one becomes the monitor. @throws RuntError */
export function recordExit<Request extends RecordedRequest>(
  root: string,
  request: Request,
  { path, outputLog }: RecordFiles,
  steps: RecordedSteps<Request>,
): void {
  if (request.mode === "run" && !request.detach)
    throw new RuntError("usage", "--exit-record is for --detach: in the foreground the exit status says it");
  if (request.consoleSocket !== undefined) throw new RuntError("usage", WORDS.consoleSocketUnused);
  if (outputLog !== undefined) checkOutputLog(outputLog);
  steps.separateDescriptors(request.preserveFds);
  const ready = host.detach();
  host.setChildSubreaper(true);
  const sizes = request.resizeFifo === undefined ? undefined : openSizes(request.resizeFifo);
  const deadline = request.deadlineFifo === undefined ? undefined : openFifo("--deadline-fifo", request.deadlineFifo);
  const readers = openOutputReaders();
  const begun: Fields = { schema: EXIT_RECORD_SCHEMA, id: request.id, root, bootId: bootId(), monitor: self() };
  const first = claim(path, { ...begun, phase: EXIT_PHASE.creating });
  // From here on a signal is for the container: the monitor picks up what arrives meanwhile.
  host.blockSignals();
  let execution: Execution;
  try {
    execution = steps.make({ ...request, detach: false, unattended: true });
  } catch (error) {
    if (isAt(path, first)) host.unlink(path);
    throw error;
  }
  steps.made(execution);
  const { seconds, nanoseconds } = host.now();
  const made: Fields = {
    ...begun,
    pid: execution.running.pid,
    startTicks: execution.made.record.startTime,
    startedMs: seconds * 1000 + Math.floor(nanoseconds / 1_000_000),
  };
  const phase = request.mode === "create" ? EXIT_PHASE.created : EXIT_PHASE.running;
  const own = replaceOrUndo(path, first, { ...made, phase }, execution);
  steps.watch(execution, {
    options: {
      ...(sizes !== undefined && { sizes }),
      ...(deadline !== undefined && { deadline }),
      ...(outputLog !== undefined && { log: outputLog.path, "log-size": outputLog.size, "log-files": outputLog.files }),
      record: path,
      "record-text": JSON.stringify(made).slice(0, -1),
      "record-fd": own,
      "stdout-reader": readers.stdout,
      "stderr-reader": readers.stderr,
      ...oomOptions(execution, steps.memoryPressure),
      ready,
    },
    fds: [
      ready,
      own,
      ...(sizes === undefined ? [] : [sizes]),
      ...(deadline === undefined ? [] : [deadline]),
      ...Object.values(readers).filter((fd) => fd !== -1),
    ],
  });
}

/** What tells this process from a later one of its pid; execve(2) keeps both. */
function self(): ProcessId {
  const pid = host.getpid();
  return { pid, startTicks: String(host.procStat(pid)?.startTime ?? 0) };
}

/** Makes the file exclusively: a caller that gave up can make it first, and so keep a late run from beginning. Returns a descriptor of the file. */
function claim(path: string, fields: ExitRecord): number {
  const made = write(path, fields);
  try {
    host.link(made.path, path);
  } catch (error) {
    if (!host.isErrno(error, "EEXIST")) throw failure(path, error);
    throw new RuntError("usage", `--exit-record ${path}: file exists`);
  } finally {
    host.unlink(made.path);
  }
  if (!isAt(path, made.fd)) throw taken(path);
  return made.fd;
}

/** If the record cannot be written, the end of this container could not be learnt, so the container is undone. */
function replaceOrUndo(path: string, before: number, fields: ExitRecord, execution: Execution): number {
  try {
    return replace(path, before, fields);
  } catch (error) {
    if (isAt(path, before)) host.unlink(path);
    // It is closed already.
    execution.running.socket = -1;
    throw rollbackError(execution, execution.made.record.id, error);
  }
}

/** A caller that has removed or replaced the file does not wait for this container. Returns a descriptor of the new file. */
function replace(path: string, before: number, fields: ExitRecord): number {
  const made = write(path, fields);
  try {
    if (!isAt(path, before)) throw taken(path);
    host.rename(made.path, path);
  } catch (error) {
    host.unlink(made.path);
    throw error instanceof RuntError ? error : failure(path, error);
  }
  host.close(before);
  return made.fd;
}

function taken(path: string): RuntError {
  return new RuntError("operation", `--exit-record ${path}: another program has removed or replaced it`);
}

function write(path: string, fields: ExitRecord): FreshFile {
  try {
    return writeBeside(path, `${JSON.stringify(fields)}\n`);
  } catch (error) {
    throw failure(path, error);
  }
}

function failure(path: string, error: unknown): RuntError {
  return new RuntError("operation", `--exit-record ${path}: ${host.reason(error as host.HostError)}`, { cause: error });
}

/** The file in which the monitor reads how often the kernel killed for memory: afterwards the cgroup is gone. */
function oomOptions(
  {
    made: {
      record: { cgroup },
    },
  }: Execution,
  pressureOf: typeof memoryPressure,
): MonitorArguments {
  if (cgroup === undefined || pressureOf(cgroup) === undefined) return {};
  const file = cgroup.version === 2 ? "memory.events" : "memory.oom_control";
  const directory = cgroup.paths.find((path) => host.access(`${path}/${file}`, host.ACCESS.EXIST));
  return directory === undefined ? {} : { oom: `${directory}/${file}`, "oom-before": cgroup.oomKills ?? 0 };
}
