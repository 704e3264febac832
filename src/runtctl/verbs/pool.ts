import { Argument, Option } from "commander";
import type { PoolDetail, PoolView } from "../../engine/index.ts";
import { LARGEST_FILES, LARGEST_FRAME, type PoolRunEnd, type PoolRunStart } from "../../shared/frames/index.ts";
import { EXIT, fileError, UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { age, field, table } from "../output/table.ts";
import { formatOf } from "../output/value.ts";
import { print, printError, readFile, stderr, stdout } from "../platform/index.ts";
import { poolPath, poolsOf, untilRemoved } from "../pools.ts";
import type { Session } from "../session.ts";
import { RemoteProgram, upgraded } from "../streams/streams.ts";
import { DEFAULT_WAIT, durationOf, endFor } from "../until.ts";
import { verb } from "../verb.ts";
import { environmentOf } from "./exec.ts";

interface Options {
  readonly stdin?: true;
  readonly env?: readonly string[];
  readonly workdir?: string;
  readonly deadline?: string;
  readonly copy?: readonly string[];
  readonly kill?: true;
  readonly wait: boolean;
  readonly timeout?: string;
  readonly output?: "json" | "yaml";
  readonly allGroups?: true;
}

const ACTIONS = ["list", "describe", "run", "delete"] as const;
type Action = (typeof ACTIONS)[number];

/** The options of each action. */
const OPTIONS: Readonly<Record<Action, readonly (keyof Options)[]>> = {
  list: ["output", "allGroups"],
  describe: ["output"],
  run: ["stdin", "env", "workdir", "deadline", "copy"],
  delete: ["kill", "timeout"],
};
const OPTION_TEXTS: Readonly<Partial<Record<keyof Options, string>>> = {
  allGroups: "-A",
  output: "-o",
  stdin: "-i",
  env: "-e",
  workdir: "-w",
};

const and = (text: string, before: readonly string[] = []) => [...before, text];

export const pool = verb<Options>({
  name: "pool",
  summary: "run programs in prepared containers, and show or remove pools of them (list, describe, run, delete)",
  description: [
    "A pool is a document with `kind: Pool` in a file for `apply`. The containers of a pool wait for a program. Each runs one program, and is then removed.",
    "run ends with the exit status of the program: 128 + N if signal N ended it, 127 if the program does not exist, 126 if it cannot be executed. If a limit of the pool ended it, run says so. If runtctl ends first, everything in the container is killed.",
    "delete lets programs that run end, unless --kill is set. It returns when nothing of the pool is left.",
  ],
  examples: [
    ["pool list", "list the pools of the group with the numbers of their containers"],
    ["pool run py --copy main.py:/tmp/main.py -- python3 /tmp/main.py", "run a file of this host"],
    ["pool run py -i -- python3 - < main.py", "pass the program on standard input"],
    ["pool delete py", "remove the pool"],
  ],
  operandsBefore: () => 2,
  define: (command) =>
    command
      .addArgument(new Argument("[action]", "what to do").choices(ACTIONS).default("list"))
      .argument("[pool]", "name of a pool of the group")
      .argument("[command...]", "run: program and arguments; default: those of the pool")
      .option("-i, --stdin", "run: pass standard input to the program")
      .option("-e, --env <name=value>", "run: set an environment variable; may be repeated", and)
      .option("-w, --workdir <dir>", "run: working directory in the container")
      .option("--copy <file:path>", "run: copy a file of this host into the container before the program begins; may be repeated", and)
      .option("--deadline <duration>", "run: kill the program after this time; at most the deadline of the pool")
      .option("--kill", "delete: kill the programs that run")
      .option("--no-wait", "delete: return as soon as the daemon has recorded the request")
      .option("--timeout <duration>", `delete: wait for at most this long; default: ${DEFAULT_WAIT}`)
      .option("-A, --all-groups", "list: pools of every group")
      .addOption(new Option("-o, --output <format>", "list, describe: output format").choices(["json", "yaml"])),
  async run(session, [word = "list", name, ...command], options) {
    const action = word as Action;
    checkOptions(action, options);
    if (action === "list") return list(session, name, options);
    if (name === undefined) throw new UsageError(`${action} needs the name of a pool`);
    if (action === "run") return runIn(session, name, command, options);
    if (command.length > 0) throw new UsageError(`${action} takes one name`);
    return action === "describe" ? describe(session, name, options) : remove(session, name, options);
  },
});

function checkOptions(action: Action, options: Options): void {
  for (const [of, names] of Object.entries(OPTIONS))
    for (const name of names)
      if (options[name] !== undefined && !OPTIONS[action].includes(name))
        throw new UsageError(`${OPTION_TEXTS[name] ?? `--${name}`} is for ${of}`);
  if (!options.wait && action !== "delete") throw new UsageError("--no-wait is for delete");
}

async function list(session: Session, name: string | undefined, { output, allGroups }: Options): Promise<number> {
  if (name !== undefined) throw new UsageError("list takes no name: describe shows one pool");
  const pools = await poolsOf(session, allGroups ? undefined : session.group);
  if (output !== undefined) print(formatOf(output)(pools));
  else if (pools.length === 0) printError(allGroups ? "no pools" : `no pools in group ${session.group}`);
  else
    print(
      table(
        ["POOL", ...(allGroups ? ["GROUP"] : []), "STATE", "READY", "TAKEN", "WAITING", "RUNS", "AGE"],
        pools.map((one) => rowOf(one, allGroups === true)),
      ),
    );
  return EXIT.done;
}

function rowOf({ name, group, state, parked, size, taken, waiting, takes, createdMs }: PoolView, hasGroup: boolean): string[] {
  const counts = [`${parked}/${size}`, String(taken), String(waiting), String(takes)];
  return [printable(name), ...(hasGroup ? [printable(group)] : []), state, ...counts, age(Date.now() - createdMs)];
}

async function describe({ client, group }: Session, name: string, { output }: Options): Promise<number> {
  const found = await client.call<PoolDetail>("GET", poolPath(name, group));
  if (output !== undefined) {
    print(formatOf(output)(found));
    return EXIT.done;
  }
  const { state, failing, image, from, spec } = found;
  print(
    [
      field("Pool", printable(name)),
      field("State", state),
      ...(failing === null ? [] : [field("Failing", `${printable(failing.message)} (${failing.code}, ${failing.times} times)`)]),
      ...(image === null ? [] : [field("Image", `${printable(image.reference)} ${image.digest}`)]),
      ...(from === null ? [] : [field("File", printable(from))]),
      field("Containers", `${found.parked} of ${found.size} wait, ${found.making} are being made, ${found.taken} run`),
      field("Requests", `${found.takes} started, ${found.waits} had to wait, ${found.waiting} wait now`),
      field("Made", `${found.refills} made, ${found.failures} failed, ${found.adopted} taken over, ${found.discarded} removed unused`),
      field("Spec", ""),
      formatOf("yaml")(spec),
    ].join("\n"),
  );
  return EXIT.done;
}

async function remove(session: Session, name: string, { kill, wait, timeout }: Options): Promise<number> {
  if (timeout !== undefined && !wait) throw new UsageError("--timeout with --no-wait: there is no wait that it could end");
  const end = endFor(durationOf(timeout ?? DEFAULT_WAIT));
  await session.client.call("DELETE", poolPath(name, session.group, { query: `&kill=${kill === true}` }));
  const left = wait ? await untilRemoved(session, [name], end) : [name];
  print(`pool ${printable(name)} ${left.length === 0 ? "deleted" : "is being deleted"}`);
  return wait && left.length > 0 ? EXIT.failed : EXIT.done;
}

/** Returns the exit status. @throws UsageError, ClientError */
async function runIn(session: Session, name: string, command: readonly string[], options: Options): Promise<number> {
  const files = (options.copy ?? []).map(fileIn);
  const total = files.reduce((sum, { content }) => sum + content.length, 0);
  if (total > LARGEST_FILES) throw new UsageError(`--copy: the files have ${total} bytes, and ${LARGEST_FILES} are the most`);
  const start: PoolRunStart = {
    command: command.length === 0 ? undefined : [command[0]!, ...command.slice(1)],
    env: environmentOf(options.env ?? []),
    cwd: options.workdir,
    stdin: options.stdin,
    deadlineMs: options.deadline === undefined ? undefined : durationOf(options.deadline),
    files: files.length === 0 ? undefined : files.map(({ path, content }) => ({ path, bytes: content.length })),
  };
  const connection = await upgraded(session.sockets, poolPath(name, session.group, { action: "/run" }), "POST");
  const remote = new RemoteProgram(connection, { takesStdin: options.stdin === true, stdout, stderr });
  try {
    return await remote.run({
      start,
      files: files.flatMap(({ content }) => piecesOf(content)),
      onEnd: tellOfEnd,
      broken: "the daemon has gone away, and the program with it",
    });
  } finally {
    remote.close();
  }
}

/** Such as "main.py:/tmp/main.py". @throws UsageError: it has another form; Error: the file cannot be read */
function fileIn(text: string): { readonly path: string; readonly content: Uint8Array } {
  const at = text.lastIndexOf(":");
  const [file, path] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || !path.startsWith("/")) throw new UsageError(`--copy ${text}: use FILE:PATH with an absolute path in the container`);
  try {
    return { path, content: readFile(file, LARGEST_FILES + 1) };
  } catch (error) {
    throw fileError(file, error);
  }
}

function piecesOf(content: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < content.length; at += LARGEST_FRAME) pieces.push(content.subarray(at, at + LARGEST_FRAME));
  return pieces;
}

const END_TEXTS: Readonly<Record<Exclude<PoolRunEnd["endedBy"], "itself">, string>> = {
  deadline: "the program was killed at its deadline",
  output: "the program was killed: it has printed more than the pool allows",
  aborted: "the program was killed",
  killed: "the program was killed: the pool is being removed",
};

function tellOfEnd(end: unknown): void {
  const { endedBy, oomKilled } = end as PoolRunEnd;
  if (endedBy !== "itself") printError(`runtctl: ${END_TEXTS[endedBy]}`);
  else if (oomKilled) printError("runtctl: the program was killed: it has used more memory than the pool allows");
}
