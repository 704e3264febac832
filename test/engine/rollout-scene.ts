/** What tests of rollouts apply and watch. */
import { expect } from "vitest";
import { eventsOf, http, type Scene } from "./support.ts";

interface Rolled {
  readonly state: string;
  readonly revision: number;
  readonly replica?: string;
  readonly reason?: { readonly text: string; readonly cause?: Rolled["reason"] };
}

interface Shown {
  readonly name: string;
  readonly id: string;
  readonly known: string;
  readonly digest: string;
  readonly desired: string;
}

export const RUNS = "trap 'exit 0' TERM; while :; do sleep 0.05; done";

export function rolloutsIn(scene: Scene) {
  const compose = (script: string, update: string, more = "") => {
    const path = scene.file(
      "compose.yaml",
      `name: shop
services:
  web:
    x-runt-rootfs: ${scene.rootfs()}
    network_mode: none
    command: [/bin/sh, -c, ${JSON.stringify(script.replaceAll("$", "$$$$"))}]
    stop_grace_period: 5s
    deploy: { replicas: 3, update_config: { ${update} } }
${more}`,
    );
    return path;
  };
  const apply = async (script: string, update: string, more?: string) => {
    const done = await scene.ctl("apply", "-f", compose(script, update, more));
    expect(done).toMatchObject({ status: 0, stderr: "" });
    return done.stdout;
  };
  const rolled = async (after = 0): Promise<Rolled[]> =>
    (await eventsOf(scene.socket, after)).flatMap(({ data }) => (data["type"] === "rollout" ? [data as unknown as Rolled] : []));
  const tasks = async (): Promise<Shown[]> => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks;
  const last = async (after = 0) => (await rolled(after)).at(-1)?.state;
  const sequence = async (): Promise<number> => JSON.parse((await http(scene.socket, "GET", "/v1/node")).text).lastSequence;
  const chainOf = (reason: Rolled["reason"]): string => (reason === undefined ? "" : `${reason.text} <- ${chainOf(reason.cause)}`);
  /** Watches how many replicas run until `isOver`. */
  const leastRunning = async (isOver: () => Promise<boolean>): Promise<number> => {
    let least = Number.POSITIVE_INFINITY;
    do {
      const running = (await tasks()).filter(({ known, desired }) => known === "RUNNING" && desired === "RUNNING");
      least = Math.min(least, new Set(running.map(({ name }) => name)).size);
    } while (!(await isOver()));
    return least;
  };
  const all = async (field: "name" | "known") => (await tasks()).map((one) => one[field]).sort();
  return { compose, apply, rolled, tasks, last, sequence, chainOf, leastRunning, all };
}
