/** Pools, and what a client sends to run a program in one. */
import { z } from "zod";
import { EngineError, type PoolDetail, type PoolView, type TakeRequest } from "../../engine/index.ts";
import { FRAME, type Frame, LARGEST_FILES, type PoolRunEnd, type PoolRunStart } from "../../shared/frames/index.ts";
import { boundedJson, firstIssue } from "../../shared/text/index.ts";

const count = z.int();
const wallMs = z.number().describe("Milliseconds since the epoch.");

export const poolView = z
  .strictObject({
    id: z.string(),
    group: z.string(),
    name: z.string(),
    state: z
      .enum(["opening", "ready", "failing", "ending"])
      .describe("opening: it has no container yet. failing: no container can be made. ending: it is being removed."),
    size: count.describe("Number of containers that are to wait for a program."),
    parked: count.describe("Containers that wait."),
    making: count.describe("Containers that are being made."),
    taken: count.describe("Containers in which a program runs."),
    waiting: count.describe("Requests that wait for a container."),
    takes: count.describe("Programs that were started. This and the next counts begin at 0 when a daemon opens the pool."),
    waits: count.describe("Requests that have had to wait."),
    refills: count.describe("Containers that were made."),
    failures: count.describe("Containers that could not be made."),
    adopted: count.describe("Waiting containers of an earlier daemon that were taken over."),
    discarded: count.describe("Containers that were removed unused."),
    image: z
      .strictObject({ reference: z.string(), digest: z.string() })
      .nullable()
      .describe("null: it has none, or it was not pulled yet."),
    failing: z
      .strictObject({ code: z.string(), message: z.string(), times: count.describe("In a row."), lastMs: wallMs })
      .nullable()
      .describe("Why no container can be made."),
    createdMs: wallMs,
    from: z.string().nullable().describe("Path of the file that it comes from. null if it is not known."),
  })
  .meta({ id: "Pool" }) satisfies z.ZodType<PoolView>;

export const poolDetail = poolView
  .extend({
    spec: z
      .record(z.string(), z.unknown())
      .describe("The document of the file with all defaults. On read.sock, values of variables and arguments are null."),
  })
  .meta({ id: "PoolDetail" });

/** Values of variables and arguments may be secrets. */
export function redacted({ spec, ...view }: PoolDetail): z.input<typeof poolDetail> {
  const env = Object.fromEntries(Object.keys(spec.env).map((name) => [name, null]));
  return { ...view, spec: { ...spec, env, args: spec.args.map(() => null) } };
}

const limits = z.strictObject({
  memoryBytes: z.int().min(1).optional(),
  cpus: z.number().min(0.01).optional(),
  pids: z.int().min(1).optional(),
});

/** Content of the first frame of a run. */
export const poolRunStart = z
  .strictObject({
    command: z
      .tuple([z.string().min(1)], z.string())
      .optional()
      .describe("Program and arguments. Absent: those of the pool."),
    env: z.record(z.string(), z.string()).optional().describe("Variables in addition to those of the pool."),
    cwd: z.string().optional(),
    stdin: z.boolean().optional().describe("The client sends data for stdin. Default: stdin is empty."),
    deadlineMs: z.int().min(1).optional().describe("Time after which the program is killed; at most that of the pool."),
    limits: limits.optional().describe("Limits that are tighter than those of the pool."),
    files: z
      .array(
        z.strictObject({ path: z.string().min(1), mode: z.int().min(0).max(0o777).optional(), bytes: z.int().min(0).max(LARGEST_FILES) }),
      )
      .max(1000)
      .optional()
      .describe(
        `Files that exist before the program begins. Their contents follow in frames of kind 5, one file after the other; together at most ${LARGEST_FILES} bytes.`,
      ),
  })
  .meta({ id: "PoolRunStart" }) satisfies z.ZodType<PoolRunStart>;

/** Content of the last frame of a run. */
export const poolRunEnd = z
  .strictObject({
    exitCode: z.int().nullable().describe("128 + N if signal N has ended the program. null: it is not known."),
    oomKilled: z.boolean().describe("The kernel has killed the program for lack of memory."),
    endedBy: z
      .enum(["itself", "deadline", "aborted", "output", "killed"])
      .describe(
        "itself: the program has ended. deadline, output: a limit of the pool has ended it. aborted: its client has disconnected. killed: the pool was removed.",
      ),
  })
  .meta({ id: "PoolRunEnd" }) satisfies z.ZodType<PoolRunEnd>;

/** @throws EngineError invalid-argument */
export function runStartOf({ kind, payload }: Frame): PoolRunStart {
  if (kind !== FRAME.start) throw invalid(`the first frame is of kind ${kind}, not ${FRAME.start}`);
  const { success, data, error } = poolRunStart.safeParse(jsonOf(payload));
  if (!success) throw invalid(`the first frame: ${firstIssue(error)}`);
  const total = (data.files ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > LARGEST_FILES) throw invalid(`files: together they have ${total} bytes, and ${LARGEST_FILES} are the most`);
  return data;
}

/** @param contents of the files, one behind the other */
export function takeRequestOf(
  { command, env, cwd, stdin, deadlineMs, limits: resources, files = [] }: PoolRunStart,
  contents: Uint8Array,
): TakeRequest {
  let at = 0;
  const given = files.map(({ path, mode, bytes }) => {
    const content = contents.subarray(at, at + bytes);
    at += bytes;
    return [path, mode === undefined ? content : { content, mode }] as const;
  });
  return {
    ...(command === undefined ? {} : { cmd: command[0], args: command.slice(1) }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(stdin ? { openStdin: true } : {}),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(resources === undefined ? {} : { resources: definedOf(resources) }),
    ...(given.length === 0 ? {} : { files: Object.fromEntries(given) }),
  };
}

function definedOf<T extends object>(value: T): { [K in keyof T]: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as { [K in keyof T]: NonNullable<T[K]> };
}

export function invalid(message: string): EngineError {
  return new EngineError("invalid-argument", message);
}

/** undefined: the payload is not valid JSON, or has more values than any request. */
function jsonOf(payload: Uint8Array): unknown {
  try {
    return boundedJson(Buffer.from(payload).toString());
  } catch {
    return undefined;
  }
}
