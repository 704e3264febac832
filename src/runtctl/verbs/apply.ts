import type { Applied, AppliedChange, EngineEvent } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { rolloutText } from "../output/event-line.ts";
import { plain, printable } from "../output/style.ts";
import { print, printError } from "../platform/index.ts";
import { untilFilled } from "../pools.ts";
import { PullsOfTasks } from "../pulling.ts";
import { untilRolledOut } from "../rollouts.ts";
import { DEFAULT_GROUP, type Session } from "../session.ts";
import { tasksOf } from "../tasks.ts";
import { durationOf, endFor, type ReadyOptions, untilReady } from "../until.ts";
import { verb } from "../verb.ts";
import { type ApplyOptions, addApplyOptions, applyOptionsOf, type NetworkOption, networksOf } from "./apply-options.ts";
import { withImages } from "./build.ts";
import { addComposeOptions, fileToApply } from "./compose.ts";
import { addFileOption, type ComposeFlags, type FileOption, orFindings } from "./file.ts";
import { sayOutcome } from "./rollout.ts";

interface WaitOptions {
  readonly wait?: true;
  readonly timeout?: string;
}

type Options = FileOption & ApplyOptions & NetworkOption & ComposeFlags & WaitOptions & { readonly build?: true };

const WORDS: Readonly<Partial<Record<AppliedChange, string>>> = {
  removed: "is being removed",
  rolling: "is replaced by the rollout of its service",
  succeeded: "has succeeded already",
};

export const apply = verb<Options>({
  name: "apply",
  summary: "create or change the tasks of a file: all of them, or none on an error",
  description: [
    "A running task that already matches the file stays as it is. If only the limits of containers differ, the daemon changes them while the containers run. For any other difference, the daemon stops the task and starts the new one in its place.",
    "A task that has succeeded and has the same text is not run again. Tasks of the group that are not in the file stay; apply lists them with -.",
    "If a Compose file builds an image, apply builds it first when it is missing or with --build. If the new image has other contents, the task is replaced.",
    "apply returns when the daemon has recorded the file. With --wait it returns when every task runs and its checks have succeeded, or when it has ended successfully, and the rollouts of services have ended. As soon as one task fails, the exit status is 1. SIGINT ends the wait; the daemon goes on.",
  ],
  examples: [
    ["apply -f web.yaml", "start the tasks of web.yaml"],
    ["apply -f web.yaml --prune", "also remove tasks that are no longer in it"],
    ["apply -f web.yaml --wait --timeout 2m", "return when the tasks are ready; 1 if they are not"],
    ["apply -f compose.yaml -p shop", "start the services of a Compose file as group shop"],
  ],
  define(command) {
    addFileOption(command);
    addApplyOptions(command);
    addComposeOptions(command);
    command
      .option("--build", "for a Compose file: also build images of its services that exist")
      .option("--wait", "wait until the tasks are ready, or until one has failed")
      .option("--timeout <duration>", "wait for at most this long; default: without a limit");
  },
  async run(session, _, options) {
    const { client, givenGroup } = session;
    const limitMs = limitOf(options);
    const file = fileToApply(options, givenGroup);
    if (file === undefined) return EXIT.failed;
    file.prepare?.();
    const { source, origin, builds, externals, ...body } = await withImages(session, file, options.build === true);
    // Read before the request, so that events between the request and the wait are shown.
    const after = options.wait ? (await client.call<{ lastSequence: number }>("GET", "/v1/node")).lastSequence : undefined;
    const end = endFor(limitMs);
    const answer = await orFindings({ source, origin }, () =>
      client.call<{ applied: Applied[]; warnings?: string[] }>("POST", "/v1/apply", {
        ...body,
        ...applyOptionsOf(options),
        ...networksOf(options, externals),
      }),
    );
    for (const warning of answer?.warnings ?? []) printError(`${source}: warning: ${printable(warning)}`);
    const countFor = (change: AppliedChange, service: string | undefined) => {
      if (change !== "removed" || service === undefined) return "";
      const count = answer!.applied.filter((one) => one.service === service && one.change !== "removed").length;
      return `: the file has ${count} ${count === 1 ? "replica" : "replicas"} of ${service}`;
    };
    for (const { kind, name, change, service } of answer?.applied ?? []) {
      const what = `${kind ?? "task"} ${name}`;
      print(change === "absent" ? `- ${what} is not in the file` : `${what} ${WORDS[change] ?? change}${countFor(change, service)}`);
    }
    if (answer === undefined) return EXIT.failed;
    if (file.isProject && file.group !== DEFAULT_GROUP) await tellOfEarlier(session, answer.applied);
    return options.wait ? awaitAll({ ...session, group: file.group }, answer.applied, { end, after }) : EXIT.done;
  },
});

/**
 * In earlier versions a Compose file without a project name belonged to the group default. Its tasks keep running, and are reported when new ones
 * are made for them.
 */
async function tellOfEarlier({ client }: Session, applied: readonly Applied[]): Promise<void> {
  const names = applied.flatMap(({ name, change }) => (change === "created" ? [name] : []));
  if (names.length === 0) return;
  const tasks = await tasksOf({ client, group: DEFAULT_GROUP });
  const earlier = names.filter((one) => tasks.some(({ name, from }) => name === one && from === null));
  if (earlier.length > 0)
    printError(
      `runtctl: ${earlier.join(", ")} of group ${DEFAULT_GROUP} may be of this file, too, from before it was a project of its own: delete them there, or apply it with -p ${DEFAULT_GROUP}`,
    );
}

function limitOf({ wait, timeout }: WaitOptions): number | undefined {
  if (timeout === undefined) return undefined;
  if (!wait) throw new UsageError("--timeout without --wait: there is no wait that it could end");
  return durationOf(timeout);
}

/** Replicas of services are awaited by the rollouts of these. */
async function awaitAll(session: Session, applied: readonly Applied[], options: ReadyOptions): Promise<number> {
  const all = applied.filter(({ change }) => change !== "absent" && change !== "removed");
  const [asked, pools] = [all.filter(({ kind }) => kind !== "pool"), all.filter(({ kind }) => kind === "pool")];
  const services = new Map(asked.flatMap(({ service, revision = 0 }) => (service === undefined ? [] : [[service, revision] as const])));
  const awaited = asked.filter(({ service, change }) => service === undefined && WORDS[change] === undefined);
  const following = { names: [...services.keys()], ...options, onEvent: tellOfStep };
  const [tasks, rolled, filled] = await Promise.all([
    awaitTasks(session, awaited, options),
    services.size === 0 ? [] : untilRolledOut(session, following),
    awaitPools(session, pools, options),
  ]);
  const outcomes = rolled.map((service) => sayOutcome(service, services.get(service.name)!));
  return outcomes.every(Boolean) && filled ? tasks : EXIT.failed;
}

/** Whether each pool has all its containers. */
async function awaitPools(session: Session, pools: readonly Applied[], { end }: ReadyOptions): Promise<boolean> {
  if (pools.length === 0) return true;
  const names = pools.map(({ name }) => name);
  const open = await untilFilled(session, names, end);
  for (const name of names) {
    const why = open.get(name);
    if (why === undefined) print(`pool ${name} is ready`);
    else printError(`runtctl: pool ${name} is not ready: ${printable(why)}`);
  }
  return open.size === 0;
}

function tellOfStep(event: EngineEvent): void {
  if (event.type === "rollout") printError(printable(`${event.name}: ${rolloutText(event, plain)}`));
}

async function awaitTasks(session: Session, awaited: readonly Applied[], options: ReadyOptions): Promise<number> {
  const ids = awaited.map(({ id }) => id);
  // Images may take long to come.
  const pulls = new PullsOfTasks(session, ids);
  const open = await untilReady(session, ids, { ...options, onEvent: (event) => pulls.see(event) }).finally(() => pulls.end());
  for (const { id, name } of awaited) {
    const readiness = open.get(id);
    if (readiness === undefined) print(`task ${name} is ready`);
    else printError(`runtctl: task ${name} ${readiness.state === "failed" ? "has failed" : "is not ready"}: ${printable(readiness.why)}`);
  }
  return open.size === 0 ? EXIT.done : EXIT.failed;
}
