/** The real runtime, as the walk sees it. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type CallOptions, type Harness, shell } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { type Action, type Answer, EXEC_EXIT, FIRST_LIMIT } from "./model.ts";

export interface Subject {
  perform(id: string, action: Action): Promise<Answer>;
  /** Every container's status, "ID STATUS", sorted. */
  list(): Promise<readonly string[]>;
  /** How many objects of its state root gc would collect. */
  garbage(): Promise<number>;
  /** Wait until `state` shows one of these; "none" for no container. Returns what it shows in the end. */
  until(id: string, statuses: readonly string[]): Promise<string>;
  /** Forget every container. */
  clear(): Promise<void>;
}

const PAUSE_MS = 2;
/** In the root file system of the tests; here the host's directory of marks. */
const READY = "/mnt";

/** Its init ends on TERM, and says when it will. */
const PROGRAM = `trap "exit 0" TERM; echo > ${READY}/$(hostname); while :; do sleep 1000 & wait $!; done`;

export function realSubject(harness: Harness, name: string): Subject {
  const { directory, runtime } = harness;
  const root = join(directory, `${name}-root`);
  const ready = join(directory, `${name}-ready`);
  mkdirSync(ready);
  const bundles = new Map<string, string>();
  let count = 0;

  function bundleOf(id: string): string {
    const known = bundles.get(id);
    if (known !== undefined) return known;
    const made = harness.bundle((config) => {
      shell(config, PROGRAM);
      config.hostname = id;
      config.mounts.push({ destination: READY, type: "bind", source: ready, options: ["rbind"] });
      config.linux.cgroupsPath = `${CGROUP_PARENT}/${name}/${id}`;
      config.linux.resources = { pids: { limit: FIRST_LIMIT } };
    });
    bundles.set(id, made);
    return made;
  }

  const runt = (words: readonly string[], options?: CallOptions) => runtime(["--root", root, ...words], options);

  /** Global flags, verb, its words and how its output is read. */
  async function answer(words: readonly string[], shown?: (output: string) => string): Promise<Answer> {
    const log = join(directory, `${name}-log-${++count}`);
    const { status, stdout } = await runt(["--log", log, "--log-format", "json", ...words]);
    const text = existsSync(log) ? readFileSync(log, "utf8") : "";
    rmSync(log, { force: true });
    const { code } = text === "" ? {} : (JSON.parse(text) as { code?: string });
    return { exit: status, ...(code === undefined ? {} : { code }), ...(status === 0 && shown ? { shown: shown(stdout) } : {}) };
  }

  const statusOf = (output: string): string => JSON.parse(output).status;

  async function perform(id: string, { verb, limit }: Action): Promise<Answer> {
    switch (verb) {
      case "create":
      case "run --detach": {
        const bundle = bundleOf(id);
        return answer([...verb.split(" "), "-b", bundle, id]);
      }
      case "kill TERM":
      case "kill KILL":
      case "kill 0":
        return answer(["kill", id, verb.split(" ")[1]!]);
      case "exec":
        return answer(["exec", id, "sh", "-c", `exit ${EXEC_EXIT}`]);
      case "exec --detach":
        return answer(["exec", "--detach", id, "sleep", "1000"]);
      case "update":
        return answer(["update", "--pids-limit", String(limit), id]);
      case "state":
        return answer([verb, id], statusOf);
      case "inspect":
        return answer([verb, id], (output) => JSON.parse(output).state.status);
      case "ps":
        return answer([verb, "-f", "json", id], (output) => (JSON.parse(output).length > 0 ? "some" : "none"));
      case "events --stats":
        return answer(["events", "--stats", id], (output) => String(JSON.parse(output).data.pids.limit));
      default:
        return answer([...verb.split(" "), id]);
    }
  }

  async function current(id: string): Promise<string> {
    const { status, stdout, stderr } = await runt(["state", id]);
    if (status === 0) return statusOf(stdout);
    return stderr.includes("does not exist") ? "none" : stderr.trim();
  }

  /** The program of a container that runs has set its trap. */
  async function awaitReady(id: string): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end && !existsSync(join(ready, id)); ) await sleep(PAUSE_MS);
  }

  return {
    perform,
    async list() {
      const { stdout } = await runt(["list", "-f", "json"]);
      const rows = (JSON.parse(stdout || "null") ?? []) as readonly { id: string; status: string }[];
      return rows.map(({ id, status }) => `${id} ${status}`).sort();
    },
    async garbage() {
      const { stdout } = await runt(["gc", "--dry-run", "-f", "json"]);
      return (JSON.parse(stdout).objects as readonly { kind: string }[]).filter(({ kind }) => kind !== "level").length;
    },
    async until(id, statuses) {
      const end = Date.now() + PATIENCE_MS;
      for (;;) {
        const status = await current(id);
        if (statuses.includes(status) && status === "running") await awaitReady(id);
        if (status === "none" || status === "stopped") rmSync(join(ready, id), { force: true });
        if (statuses.includes(status) || Date.now() > end) return status;
        await sleep(PAUSE_MS);
      }
    },
    async clear() {
      await runt(["delete", "--force", "--regex", "."]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}
