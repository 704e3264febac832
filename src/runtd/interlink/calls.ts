/** Implements the four calls of interLink's plug-in API with the engine. */

import { type Engine, EngineError, type LogRecord, type TaskDetail, type TaskView, TextWriter } from "../../engine/index.ts";
import { type ClusterPod, type ClusterRules, type PodStatus, podOf } from "../../pod/index.ts";
import { hostAddresses } from "../host-facts.ts";
import { log } from "../log.ts";
import type { Files } from "../parsing/files.ts";
import { hostOf } from "../read-file.ts";
import type { LogRequest, PodRequest } from "./requests.ts";

/** Formats the status of a pod for interLink. */
type Status = NonNullable<PodStatus["containerStatuses"]>[number];

/** undefined: the task was not made from a pod. */
function statusAnswer(task: TaskView, detail: TaskDetail, hostAddresses: readonly string[]) {
  const pod = podOf({ task, detail, hostAddresses });
  if (pod === undefined) return undefined;
  const { name = "", namespace = "", uid = "" } = pod["metadata"] as Readonly<Record<string, string>>;
  return {
    name,
    namespace,
    uid,
    JID: task.id,
    containers: (pod.status.containerStatuses ?? []).map(withBothNames),
    initContainers: (pod.status.initContainerStatuses ?? []).map(withBothNames),
  };
}

/** Adds the field names of interLink's published document to those of Kubernetes. */
function withBothNames(status: Status) {
  const { terminated, running } = status.state ?? {};
  return {
    ...status,
    state: {
      ...status.state,
      ...(terminated === undefined ? {} : { terminated: { ...terminated, exit_code: terminated.exitCode } }),
      ...(running === undefined
        ? {}
        : { running: { ...running, ...(running.startedAt === undefined ? {} : { started_at: running.startedAt }) } }),
    },
  };
}

/** The group of all tasks that are made from pods of a cluster. */
const GROUP = "interlink";

export class Calls {
  readonly #engine: Engine;
  readonly #files: Files;
  readonly #rules: ClusterRules;

  constructor(engine: Engine, files: Files, rules: ClusterRules) {
    this.#engine = engine;
    this.#files = files;
    this.#rules = rules;
  }

  /** Creates the task of a pod. Creating the same pod again changes nothing. @throws EngineError invalid-spec, no-room; StoreError */
  async create(request: ClusterPod) {
    const parsed = await this.#files.readPod(request, hostOf(this.#engine), this.#rules);
    const [applied] = await this.#engine.apply(parsed, GROUP, {});
    const name = parsed.tasks[0]?.name ?? applied?.name ?? "";
    log("info", "interlink-create", { pod: name, change: applied?.change });
    const { id } = this.#engine.get(name, GROUP);
    return { PodUID: name, PodJID: id, pod_uid: name, pod_jid: id };
  }

  /** Deletes the task of a pod. Succeeds if it does not exist. @throws StoreError */
  async delete({ metadata: { uid } }: PodRequest): Promise<string> {
    try {
      await this.#engine.delete(uid, GROUP);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "unknown-task") throw error;
    }
    log("info", "interlink-delete", { pod: uid });
    return `pod ${uid} is being deleted`;
  }

  /** The status of each pod. Unknown pods are left out. */
  status(pods: readonly PodRequest[]) {
    const addresses = hostAddresses();
    return pods.flatMap(({ metadata: { uid } }) => {
      const task = this.#known(uid);
      if (task === undefined) return [];
      return statusAnswer(task, this.#engine.detail(task.id, GROUP, { isRedacted: false }), addresses) ?? [];
    });
  }

  /** The log as text, in chunks. @throws EngineError unknown-task, unknown-container: at once, not by the generator */
  logs(
    { uid, container, tail, bytes, hasTimes, follow, previous, sinceSeconds, sinceMs }: LogRequest,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const since = sinceSeconds === undefined ? sinceMs : Date.now() - sinceSeconds * 1000;
    const records = this.#engine.logs(uid, GROUP, { container, tail, follow, previous, sinceMs: since, signal });
    return limited(textOf(records, hasTimes), bytes);
  }

  #known(uid: string) {
    try {
      return this.#engine.get(uid, GROUP);
    } catch (error) {
      if (error instanceof EngineError && error.code === "unknown-task") return undefined;
      throw error;
    }
  }
}

async function* textOf(records: AsyncGenerator<readonly LogRecord[]>, hasTimes: boolean): AsyncGenerator<Uint8Array> {
  const text = new TextWriter({ hasTimes });
  for await (const some of records) yield Buffer.concat(some.map((one) => text.render(one)));
}

/** Ends after the first `most` bytes. */
async function* limited(source: AsyncGenerator<Uint8Array>, most: number | undefined): AsyncGenerator<Uint8Array> {
  let left = most ?? Number.POSITIVE_INFINITY;
  for await (const chunk of source) {
    yield chunk.subarray(0, Math.min(chunk.length, left));
    left -= chunk.length;
    if (left <= 0) return;
  }
}
