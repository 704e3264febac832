/** What must be true after a boot that has followed a power cut. Each check names what is wrong; null when nothing is. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskView } from "../../../src/engine/index.ts";
import { until } from "../../engine/requests.ts";
import { CGROUP, list, node, STATE, tasks } from "../service.ts";
import { isServer, isShot, isThere, SERVERS } from "./load.ts";
import { BEGUN, bootId, RUNT } from "./place.ts";
import type { Seen, Witness } from "./witness.ts";

export type Check = (witness: Witness) => Promise<string | null>;

const nothing = (...wrong: readonly (string | false)[]): string | null => wrong.filter((one) => one !== false).join("; ") || null;

/** Times that the program of a task has begun, in all boots or in this one. */
function begun(name: string, boot?: string): number {
  const path = join(BEGUN, name);
  if (!existsSync(path)) return 0;
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => (boot === undefined ? line !== "" : line === boot)).length;
}

/** The state in which the witness has seen the servers last, and how many boots have begun since. */
function lastSeen(witness: Witness, name: string): { readonly generation: number; readonly boots: number } | undefined {
  const isIt = (one: Seen) => one.what === "running" && one.name === name;
  const at = witness.seen.findLastIndex(isIt);
  if (at === -1) return undefined;
  const { generation } = witness.seen[at] as Extract<Seen, { what: "running" }>;
  return { generation, boots: witness.seen.slice(at).filter(({ what }) => what === "boot").length };
}

async function startedAgain(witness: Witness): Promise<string | null> {
  const wrong: string[] = [];
  for (const name of SERVERS) {
    const before = lastSeen(witness, name);
    if (before === undefined) continue;
    await until(async () => (await tasks()).some((task) => task.name === name && task.known === "RUNNING"));
    const { generation, containers, reason } = (await tasks()).find((task) => task.name === name)!;
    // A boot that was cut before its daemon had begun does not count.
    const isNext = generation > before.generation && generation <= before.generation + before.boots;
    if (!isNext || reason !== null) wrong.push(`${name}: generation ${generation} after ${before.generation}, ${before.boots} boots`);
    const running = list(RUNT).filter(({ id, status }) => id.includes(`.${name}.`) && status === "running");
    if (running.length !== 1 || running[0]!.id !== containers[0]!.id) wrong.push(`${name}: ${JSON.stringify(running)}`);
    if (begun(name, bootId) !== 1) wrong.push(`${name}: it has begun ${begun(name, bootId)} times in this boot`);
  }
  return nothing(...wrong);
}

async function endedWithHost(witness: Witness): Promise<string | null> {
  const isOver = ({ known, reason, generation, containers }: TaskView) =>
    known === "STOPPED" && generation === 1 && reason === "the host has booted anew" && containers[0]!.exit === null;
  const once = witness.of("running").filter(({ name }) => !isServer(name) && !witness.names("deleting").has(name));
  const found = await tasks();
  return nothing(
    ...once.map(({ name }) => {
      const task = found.find((one) => one.name === name);
      return (task === undefined || !isOver(task) || begun(name, bootId) > 0) && `${name}: ${JSON.stringify(task)}`;
    }),
  );
}

async function notRunAgain(witness: Witness): Promise<string | null> {
  const gone = witness.names("deleting");
  const found = await tasks();
  const wrong = [...witness.names("succeeded")].map((name) => {
    const task = found.find((one) => one.name === name);
    const isKept = gone.has(name) || (task?.known === "STOPPED" && task.generation === 1 && task.containers[0]!.exit?.code === 0);
    return (!isKept || begun(name, bootId) > 0 || begun(name) > 1) && `${name}: begun ${begun(name)} times: ${JSON.stringify(task)}`;
  });
  return nothing(...wrong);
}

/** Whatever they were doing, they come to rest: none hangs, none has an exit that nobody saw. */
async function cameToRest(witness: Witness): Promise<string | null> {
  const gone = witness.names("deleting");
  const shots = async () => (await tasks()).filter(({ name }) => isShot(name) && !gone.has(name));
  await until(async () => (await shots()).every(({ known }) => known === "STOPPED"));
  const wrong = (await shots()).filter(({ reason, containers: [main] }) => {
    const hasEnded = main!.exit?.code === 0 && !main!.exit.unknown;
    return !hasEnded && !(main!.exit === null && reason === "the host has booted anew");
  });
  return nothing(...wrong.map((task) => JSON.stringify(task)));
}

async function nothingLost(witness: Witness): Promise<string | null> {
  const wrong: string[] = [];
  for (const name of witness.names("deleted")) if (await isThere(name)) wrong.push(`${name} is there again`);
  // What was promised before is done now, or soon.
  for (const name of witness.names("accepted")) await until(async () => !(await isThere(name)));
  const deleting = witness.names("deleting");
  for (const name of witness.names("applied")) if (!deleting.has(name) && !(await isThere(name))) wrong.push(`${name} is lost`);
  const told = witness.of("sequence").at(-1)?.last ?? 0;
  const { lastSequence } = await node();
  if (lastSequence < told) wrong.push(`event ${told} was told, and the last one is ${lastSequence}`);
  return nothing(...wrong);
}

async function storeIsSound(): Promise<string | null> {
  const { conditions } = await node();
  return nothing(conditions.length > 0 && JSON.stringify(conditions));
}

/** Containers, cgroups and files are those of tasks that are there, and only tasks that run have processes. */
async function nothingLeft(): Promise<string | null> {
  const isOf = (known: readonly string[]) => (name: string) => known.some((id) => name.startsWith(`${id}.`) || name.startsWith(`${id}-`));
  const strangers = async () => {
    const found = await tasks();
    const isOurs = isOf(found.map(({ id }) => id));
    const isAlive = isOf(found.filter(({ known }) => known !== "STOPPED").map(({ id }) => id));
    const containers = list(RUNT).filter(({ id, status }) => !(status === "running" ? isAlive : isOurs)(id));
    return [
      ...directoriesIn(join(STATE, "executors")).filter((name) => !name.startsWith("@") && !isOurs(name)),
      ...directoriesIn(join(STATE, "logs")).filter((name) => !isOurs(`${name}.`)),
      ...directoriesIn(CGROUP).filter((name) => !["effects", "monitors"].includes(name) && !isOurs(name)),
      ...containers.map(({ id, status }) => `${id} ${status}`),
    ];
  };
  await until(async () => (await strangers()).length === 0).catch(() => {});
  return nothing(...(await strangers()));
}

function directoriesIn(path: string): string[] {
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
}

/** In this order: later ones wait for less. */
export const CHECKS: Readonly<Record<string, Check>> = {
  "tasks that start always run again, once, in the next generation": startedAgain,
  "the others have ended with the host, without an exit code": endedWithHost,
  "what was in flight comes to rest": cameToRest,
  "what has succeeded is not run again": notRunAgain,
  "what was answered is there, what was deleted is not, no event is lost": nothingLost,
  "the store is sound": storeIsSound,
  "nothing is left of the boot before": nothingLeft,
};
