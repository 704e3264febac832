import { Option } from "commander";
import { type Applied, PULL_POLICIES } from "../../engine/index.ts";
import { FRAME } from "../../shared/frames/index.ts";
import { ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { printable } from "../output/style.ts";
import { isTerminal, ownPid, print, printError } from "../platform/index.ts";
import { pullWithBar } from "../pulling.ts";
import { endOf, NOT_RUN, passSignals, printOutput, UNKNOWN, untilStarted, untilStopped, whyNotRun } from "../run/follow.ts";
import { CONTAINER, type RunOptions, taskText } from "../run/task-text.ts";
import type { Session } from "../session.ts";
import { RemoteProgram, upgraded } from "../streams/streams.ts";
import { DetachKeys, takeTerminal } from "../streams/terminal.ts";
import { inTask, taskIfThere, taskOf, taskPath } from "../tasks.ts";
import { DEFAULT_WAIT, durationOf, endFor, untilEnded } from "../until.ts";
import { verb } from "../verb.ts";
import { orFindings } from "./file.ts";

interface Options extends Omit<RunOptions, "image"> {
  readonly image?: string;
  readonly pull?: string;
  readonly credentials?: string;
}

const several = (text: string, before: readonly string[] = []) => [...before, text];

export const run = verb<Options>({
  name: "run",
  summary: "run a container of an image as a task of its own",
  description: [
    "The image is written as in a task file, or as for docker run: HOST/NAME[:tag], or a short name, which the registries.conf of this host translates if it has an alias for it. Any other short name is one of docker.io.",
    "The output of the container goes to the standard output and standard error. runtctl ends with the exit status of the container: 128 + N if signal N ended it, 255 if the status is unknown. If the program does not exist, the status is 127; if it cannot be executed, 126; if nothing was run for another reason, 125. ^C stops the container; a second ^C ends runtctl without waiting. With -it the container gets every key, and ^P ^Q leaves it running.",
    "The stopped task can be inspected until the end of its retention; with --rm it is removed at once. With -i the container reads the standard input of runtctl up to its end. With -it the standard input is a terminal, and ^D is its end.",
  ],
  examples: [
    ["run --rm alpine ls -l /", "run one command in an image of docker.io, then remove the task"],
    ["run -d --rm oci:/images/report:v1", "run in the background, and remove the task when it has ended"],
    [
      "run -d --name web -p 8080:80 -v site:/srv registry.example:5000/web:v1",
      "run a service in the background, with a volume that is kept",
    ],
  ],
  operandsBefore: (given) => (given.has("image") ? 0 : 1),
  define: (command) =>
    command
      .argument("[image]", "image; not with --image")
      .argument("[command...]", "arguments for the program of the image")
      .option("--image <image>", "image; all operands are arguments then")
      .option("-d, --detach", "return when the container runs, and print the name of the task")
      .option("--name <name>", "name of the task; default: a new name")
      .option("--rm", "remove the task after it has ended; with -d the daemon removes it")
      .option("-p, --publish <port>", "forward a host port: [ADDRESS:]HOST:CONTAINER[/udp]; may be repeated", several)
      .option("-e, --env <name=value>", "set an environment variable; NAME alone passes on its value here; may be repeated", several)
      .option(
        "-v, --volume <mount>",
        "mount SOURCE:TARGET[:ro], where SOURCE is a host path or the name of a volume; may be repeated",
        several,
      )
      .addOption(new Option("--network <mode>", "network of the container; default: bridge").choices(["none", "host", "bridge"]))
      .option("-i, --interactive", "pass standard input to the container")
      .option("-t, --tty", "allocate a terminal")
      .option("-u, --user <user>", "user as name or uid, with optional :group")
      .option("-w, --workdir <dir>", "working directory in the container")
      .option("--hostname <name>", "hostname of the container")
      .option("--entrypoint <program>", "program to run instead of the entrypoint of the image")
      .option("-m, --memory <size>", "memory limit, such as 512Mi")
      .option("--cpus <n>", "CPU limit; may be a fraction")
      .option("--read-only", "make the root file system read-only")
      .option("--restart", "restart the container when it ends")
      .addOption(
        new Option("--pull <policy>", "when to ask the registry; default: as configured for the daemon").choices([...PULL_POLICIES]),
      )
      .option("--credentials <name>", "name of the daemon's credentials for the registry"),
  async run(session, operands, options) {
    const { detach, tty, interactive, pull: policy, credentials } = options;
    const [image, ...command] = options.image === undefined ? operands : [options.image, ...operands];
    if (image === undefined) throw new UsageError("name an image: run IMAGE [COMMAND...]");
    if (detach && (interactive || tty)) throw new UsageError("-d with -i or -t: attach -i is for that");
    if (options.cpus !== undefined && !(Number(options.cpus) > 0)) throw new UsageError(`--cpus ${options.cpus} is not a number of CPUs`);
    const name = options.name ?? freshName();
    // What is wrong with the options is told before anything is pulled.
    taskText({ ...options, image }, name, command);
    try {
      const { reference } = await pullWithBar(session.sockets, { reference: image, policy, credentials });
      const text = taskText({ ...options, image: reference }, name, command);
      const taken = await taskIfThere(session, name);
      if (taken !== undefined && taken.known !== "STOPPED")
        throw new ClientError("name-taken", `there is a task ${name} that has not ended`);
      const { lastSequence } = await session.client.call<{ lastSequence: number }>("GET", "/v1/node");
      const body = { text, group: session.group, rerun: true };
      const answer = await orFindings({ source: "run" }, () => session.client.call<{ applied: Applied[] }>("POST", "/v1/apply", body));
      const own = answer?.applied.find((one) => one.name === name);
      if (own === undefined) return NOT_RUN;
      return await (detach ? inBackground(session, own.id, lastSequence, name) : inForeground(session, own.id, options));
    } catch (error) {
      if (error instanceof ClientError && error.exitStatus === undefined && error.code !== "unreachable")
        throw new ClientError(error.code, error.message, { body: error.body, exitStatus: NOT_RUN });
      throw error;
    }
  },
});

/** Unique on this host, because no two processes have the same pid at the same time. */
function freshName(): string {
  return `run-${Date.now().toString(36)}-${ownPid().toString(36)}`;
}

async function inBackground(session: Session, id: string, after: number, name: string): Promise<number> {
  const end = await whyNotRun(session, id, after);
  if (end !== undefined) return failed(end.why, end.status);
  print(name);
  return EXIT.done;
}

async function inForeground(session: Session, id: string, { interactive, tty, rm }: Options): Promise<number> {
  let giveBack = () => {};
  let leave = () => {};
  let giveUp = () => {};
  const left = new Promise<"left" | "given up">((resolve) => {
    leave = () => resolve("left");
    giveUp = () => resolve("given up");
  });
  const ignoreSignals = passSignals(session, id, giveUp);
  const output = printOutput(session, id);
  output.catch(() => {});
  try {
    if (interactive || tty) await untilStarted(session, id);
    if (interactive) giveBack = await passInput(session, id, tty === true, leave);
    const end = await Promise.race([left, output]);
    if (end === "left") return EXIT.done;
    if (end === "given up") return failed(`task ${(await taskOf(session, id)).name} has not stopped yet; the daemon goes on`, UNKNOWN);
  } finally {
    giveBack();
    ignoreSignals();
  }
  const task = await untilStopped(session, id);
  const { status, why } = await endOf(session, task);
  if (rm) {
    await session.client.call("DELETE", taskPath(id, session.group));
    // What prevents the removal is reported. The exit status is that of the container all the same.
    await untilEnded(session, { tasks: [{ id, name: task.name }], to: "deleted", end: endFor(durationOf(DEFAULT_WAIT)) });
  }
  return why === undefined ? status : failed(why, status);
}

function failed(why: string, status: number): number {
  printError(`runtctl: ${printable(why)}`);
  return status;
}

/** Sends typed input to the container. Returns a function that restores the terminal. `leave` is called for ^P ^Q. */
async function passInput(session: Session, id: string, hasTty: boolean, leave: () => void): Promise<() => void> {
  let connection: Awaited<ReturnType<typeof upgraded>>;
  try {
    connection = await upgraded(session.sockets, inTask(session, id, "attach", { container: CONTAINER, stdin: "true" }));
  } catch (error) {
    // The container has already ended.
    if (error instanceof ClientError && error.code === "container-not-running") return () => {};
    throw error;
  }
  // The output is printed from the log, which contains it from the beginning.
  const remote = new RemoteProgram(connection, { takesStdin: true, stdout: undefined, stderr: undefined });
  const tell = (size: object) => void remote.send(FRAME.resize, JSON.stringify(size));
  const terminal = hasTty && isTerminal() ? takeTerminal(tell) : undefined;
  if (terminal !== undefined) tell(terminal.size);
  const keys = new DetachKeys(leave);
  const typed = (chunk: Uint8Array) => (terminal === undefined ? chunk : keys.take(chunk));
  // The exit status is read from the task, not from this connection.
  remote.run({ broken: "the daemon has gone away; the container goes on", typed }).catch(() => {});
  return () => {
    terminal?.restore();
    remote.close();
  };
}
