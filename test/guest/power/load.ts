/** What the daemon has to do when the power goes: tasks are applied, run, succeed and are deleted. Everything that was seen is told the witness. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskView } from "../../../src/engine/index.ts";
import { http, until } from "../../engine/requests.ts";
import { taskText } from "../../engine/tasks.ts";
import { ask, node, SOCKET } from "../service.ts";
import { BEGUN, ROOTFS } from "./place.ts";
import type { Witness } from "./witness.ts";

/** Run always, and once. */
export const SERVERS = ["keep0", "keep1", "keep2"];
const ONCE = 2;
const WORKERS = 3;
const SERVE = "trap 'exit 3' TERM; while :; do sleep 1 & wait $!; done";

export const isServer = (name: string) => name.startsWith("keep");
/** It runs to its own end; every second one would start with the host. */
export const isShot = (name: string) => name.startsWith("shot");

/** Apply a task; what is told is told before and after. */
async function apply(witness: Witness, name: string, script: string, task: object): Promise<void> {
  witness.tell({ what: "asked", name });
  const begun = `cat /proc/sys/kernel/random/boot_id >> /begun/${name}`;
  const mounts = [{ source: BEGUN, target: "/begun" }];
  const text = taskText(ROOTFS, name, [{ name: "main", script: `${begun}; ${script}`, fields: { mounts } }], { ...task });
  await ask("POST", "/v1/apply", { text });
  witness.tell({ what: "applied", name });
}

export function get(name: string): Promise<TaskView> {
  return ask("GET", `/v1/tasks/${name}`);
}

export async function isThere(name: string): Promise<boolean> {
  return (await http(SOCKET, "GET", `/v1/tasks/${name}`)).status !== 404;
}

/** Servers that are to run when the power goes. */
export async function startServers(witness: Witness, boot: number): Promise<void> {
  for (const name of SERVERS.filter((one) => !witness.names("applied").has(one))) await apply(witness, name, SERVE, { start: "always" });
  const once = Array.from({ length: ONCE }, (_, at) => `once-${boot}-${at}`);
  for (const name of once) await apply(witness, name, SERVE, {});
  for (const name of [...SERVERS, ...once]) {
    await until(async () => (await get(name)).known === "RUNNING");
    witness.tell({ what: "running", name, generation: (await get(name)).generation });
  }
}

/** For ever. */
export async function work(witness: Witness, boot: number): Promise<never> {
  const worker = async (number: number): Promise<never> => {
    for (let at = 0; ; at++) {
      const name = `shot-${boot}-${number}-${at}`;
      await apply(witness, name, "exit 0", at % 2 === 0 ? {} : { start: "always" });
      await until(async () => (await get(name)).known === "STOPPED");
      witness.tell({ what: "succeeded", name });
      witness.tell({ what: "sequence", last: (await node()).lastSequence });
      if (at % 3 !== 2) await remove(witness, name);
    }
  };
  return Promise.race(Array.from({ length: WORKERS }, (_, number) => worker(number)));
}

export async function remove(witness: Witness, name: string): Promise<void> {
  witness.tell({ what: "deleting", name });
  await ask("DELETE", `/v1/tasks/${name}`);
  witness.tell({ what: "accepted", name });
  while (await isThere(name)) await sleep(100);
  witness.tell({ what: "deleted", name });
}
