import { Argument, Option } from "commander";
import type { ServiceView } from "../../engine/index.ts";
import { EXIT, UsageError } from "../errors.ts";
import { rolloutText } from "../output/event-line.ts";
import { plain, printable } from "../output/style.ts";
import { age, field, shortDigest, table } from "../output/table.ts";
import { type End, print, printError } from "../platform/index.ts";
import { rolloutPath, untilRolledOut } from "../rollouts.ts";
import type { Session } from "../session.ts";
import { durationOf, endFor } from "../until.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly toRevision?: string;
  readonly wait?: true;
  readonly timeout?: string;
  readonly output?: "json";
}

const ACTIONS = ["list", "status", "history", "undo", "pause", "resume", "restart"] as const;
type Action = (typeof ACTIONS)[number];

const DONE: Readonly<Partial<Record<Action, string>>> = { pause: "is paused", resume: "goes on", restart: "restarts", undo: "goes back" };

export const rollout = verb<Options>({
  name: "rollout",
  summary: "show and change the rollouts of services (status, history, undo, pause, resume, restart)",
  description: [
    "A service is a set of replicas with `update` (deploy.update_config in a Compose file). Its tasks are replaced step by step, and return to the last good version if the new one fails.",
    "undo returns to the last good version before the current one, or to that of --to-revision. restart replaces each replica by one with the same spec. pause lets replicas that are being replaced finish. resume also tries failed replicas again.",
    "With --wait, status and the actions follow the rollout. The exit status is 1 if it does not reach its version.",
  ],
  examples: [
    ["rollout status web --wait", "follow the rollout of the service web"],
    ["rollout history web", "list its last ten versions, with their images and what has changed"],
    ["rollout undo web --to-revision 3", "return to version 3"],
  ],
  define: (command) =>
    command
      .addArgument(new Argument("[action]", "what to do").choices(ACTIONS).default("list"))
      .argument("[service]", "name of a service of the group")
      .option("--to-revision <number>", "undo: the version to return to")
      .option("-w, --wait", "wait until the rollout has ended, and print its steps")
      .option("--timeout <duration>", "wait for at most this long; default: without a limit")
      .addOption(new Option("-o, --output <format>", "list, status, history: output format").choices(["json"])),
  async run(session, [word = "list", name], options) {
    const action = word as Action;
    const end = endFor(limitOf(action, options));
    if (action === "list") return list(session, name, options);
    if (name === undefined) throw new UsageError(`${action} needs the name of a service`);
    const { client, group } = session;
    const known = options.wait ? (await client.call<{ lastSequence: number }>("GET", "/v1/node")).lastSequence : undefined;
    if (action !== "status" && action !== "history") {
      const body = options.toRevision === undefined ? {} : { revision: Number(options.toRevision) };
      const { revision } = await client.call<{ revision: number }>(
        "POST",
        rolloutPath(name, group, action),
        ...(action === "undo" ? [body] : []),
      );
      print(`service ${printable(name)} ${DONE[action]}, revision ${revision}`);
      return options.wait ? follow(session, name, revision, known, end) : EXIT.done;
    }
    const service = await client.call<ServiceView>("GET", rolloutPath(name, group));
    if (options.wait) return follow(session, name, service.history.at(-1)?.revision ?? service.revision, undefined, end);
    if (options.output === "json") print(JSON.stringify(action === "status" ? service : service.history, null, 2));
    else print(action === "status" ? statusOf(service) : revisionsOf(service));
    return EXIT.done;
  },
});

function limitOf(action: Action, { wait, timeout, toRevision, output }: Options): number | undefined {
  const reads = action === "list" || action === "status" || action === "history";
  if (toRevision !== undefined && action !== "undo") throw new UsageError("--to-revision is for undo");
  if (toRevision !== undefined && !/^[1-9]\d{0,8}$/.test(toRevision)) throw new UsageError(`--to-revision: ${toRevision} is no number`);
  if (output !== undefined && (!reads || wait)) throw new UsageError("-o is for list, status and history without --wait");
  if (wait && (action === "list" || action === "history")) throw new UsageError(`--wait is not for ${action}`);
  if (timeout !== undefined && !wait) throw new UsageError("--timeout without --wait: there is no wait that it could end");
  return timeout === undefined ? undefined : durationOf(timeout);
}

async function list({ client, group }: Session, name: string | undefined, { output }: Options): Promise<number> {
  if (name !== undefined) throw new UsageError("list takes no name");
  const { services } = await client.call<{ services: readonly ServiceView[] }>("GET", "/v1/rollouts");
  const own = services.filter((one) => one.group === group);
  if (output === "json") print(JSON.stringify(own, null, 2));
  else print(table(["SERVICE", "REVISION", "STATE", "REPLICAS"], own.map(rowOf)));
  return EXIT.done;
}

function rowOf({ name, revision, state, replicas }: ServiceView): string[] {
  const open = replicas.filter((one) => one.state !== "good").length;
  return [printable(name), String(revision), state, open === 0 ? "" : `${open} of ${replicas.length} not good`];
}

export function statusOf(service: ServiceView): string {
  const { name, revision, kind, state, failed, reason, replicas } = service;
  return [
    field("Service", printable(name)),
    field("Revision", `${revision}${failed === null ? "" : `, back from ${failed}`}`),
    field("Rollout", `${kind}, ${state}`),
    ...(reason === null ? [] : [field("Reason", printable(reason))]),
    table(
      ["REPLICA", "STATE", "TASK", "REASON"],
      replicas.map((one) => [printable(one.name), one.state, one.task ?? "", printable(one.reason ?? "")]),
    ),
  ].join("\n");
}

export function revisionsOf({ history, revision: current }: ServiceView): string {
  const now = Date.now();
  return table(
    ["REVISION", "AGE", "CAUSE", "BY", "VERDICT", "IMAGES", "CHANGED"],
    history.map(({ revision, atMs, cause, of, by, verdict, images, changed, reason }) => [
      `${revision}${revision === current ? " *" : ""}`,
      age(now - atMs),
      `${cause}${of === null ? "" : ` ${of}`}`,
      by === null ? "" : (by.via ?? `uid ${by.uid}`),
      verdict,
      imagesText(images),
      printable(reason ?? changed.join(" ")),
    ]),
  );
}

/** Daemons of earlier versions do not send them. */
function imagesText(images: ServiceView["history"][number]["images"] | undefined = []): string {
  const all = images.map(
    ({ reference, digest }) => `${reference.replace(/^docker:\/\//, "")} ${digest === null ? "-" : shortDigest(digest)}`,
  );
  return printable([...new Set(all)].join(", "));
}

/** Prints the steps of a rollout. Returns the exit status. */
export async function follow(
  session: Session,
  name: string,
  revision: number,
  after: number | undefined,
  end: End | undefined,
): Promise<number> {
  const [service] = await untilRolledOut(session, { names: [name], after, end, onEvent: (event) => print(rolloutText(event, plain)) });
  return sayOutcome(service!, revision) ? EXIT.done : EXIT.failed;
}

/** Prints how the rollout to this version has ended. Returns whether the service has it. */
export function sayOutcome({ name, revision: current, state, reason, history }: ServiceView, revision: number): boolean {
  const isDone = state === "complete" && current === revision;
  if (isDone) print(`service ${printable(name)} is at revision ${revision}`);
  else {
    const why = history.find((one) => one.revision === revision)?.reason ?? reason ?? "the wait is over, and the daemon goes on";
    const end = current === revision ? `is ${state}` : `is at revision ${current}, and not at ${revision}`;
    printError(`runtctl: service ${printable(name)} ${end}: ${printable(why)}`);
  }
  return isDone;
}
