/** Gives log routers their configuration, and the containers that send to them their address. */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { join } from "node:path";
import { removeOwnFile, writeOwnFile } from "../../../node/index.ts";
import type { SocketPlace } from "../../logs/index.ts";
import { ROUTER_VOLUME, specOf, type TaskRecord } from "../../model/index.ts";
import { makeOwnDirectory } from "../../own/index.ts";
import {
  type Incarnation,
  ROUTER_CONFIG,
  ROUTER_PORT,
  ROUTER_RUN,
  ROUTER_SOCKET,
  routerConfig,
  withRouterSecrets,
} from "../../plan/index.ts";
import { dependencyTarget } from "../../spec/index.ts";
import { O_PATH } from "../../volumes/index.ts";
import type { Paths } from "../paths.ts";
import { type Contribution, engineMount, removeTaskDirectory, type TaskResource } from "./resource.ts";

export interface LogRoutersOptions {
  readonly paths: Paths;
  readonly records: ReadonlyMap<string, TaskRecord>;
}

export class LogRouters implements TaskResource {
  readonly name = "log-routers";
  readonly #options: LogRoutersOptions;

  constructor(options: LogRoutersOptions) {
    this.#options = options;
  }

  /** @throws Error: the log router of the container has no address; the errors of the system calls */
  prepare(record: TaskRecord, { container, runtimeId }: Incarnation): void {
    const spec = specOf(record, container);
    if (spec?.log?.router !== undefined) this.#addressFor(record, container);
    if (!spec?.logRouter) return;
    const { paths } = this.#options;
    const directory = paths.logRouter(record.id, runtimeId);
    writeReadable(directory, "config.json", `${JSON.stringify(routerConfig(record.spec, spec), null, 2)}\n`);
    // The secrets are mounted on these files.
    const own = (spec.secrets ?? []).length;
    for (const { target } of (withRouterSecrets(record.spec, spec).secrets ?? []).slice(own))
      writeReadable(join(directory, "secrets"), target!.slice(target!.lastIndexOf("/") + 1), "");
    // The program could not listen on the socket that an earlier incarnation has left.
    removeOwnFile(join(paths.volume(record.id, ROUTER_VOLUME), ROUTER_SOCKET));
  }

  /** A log router has two directories; a container that sends to one has its address. @throws Error: the router has no address */
  contribute(record: TaskRecord, { container, runtimeId }: Incarnation): Contribution {
    const { paths } = this.#options;
    const engineEnv = this.#addressFor(record, container) ?? {};
    if (!specOf(record, container)?.logRouter) return { engineEnv };
    // Its secrets are mounted below its configuration, so that they come behind this (secrets.ts).
    return {
      engineEnv,
      mounts: [
        engineMount(ROUTER_CONFIG, paths.logRouter(record.id, runtimeId), "ro"),
        engineMount(ROUTER_RUN, paths.volume(record.id, ROUTER_VOLUME), "rw"),
      ],
    };
  }

  async forget(task: string): Promise<void> {
    await removeTaskDirectory(this.#options.paths.logRouters(task));
  }

  /** Variables; undefined: the container has no log router. */
  #addressFor(record: TaskRecord, container: string): Readonly<Record<string, string>> | undefined {
    const router = specOf(record, container)?.log?.router;
    if (router === undefined) return undefined;
    // Containers of one task share a network, whatever its mode is.
    const host = router.includes("/") ? addressOf(router, this.#taskOf(record, router)) : "127.0.0.1";
    return { FLUENT_HOST: host, FLUENT_PORT: String(ROUTER_PORT) };
  }

  /** The socket on which a log router listens now. @throws Error: there is none */
  socket(record: TaskRecord, router: string): SocketPlace {
    const task = this.#taskOf(record, router);
    if (task === undefined) throw new Error(`the log router ${router} does not exist`);
    // The router may have made a symbolic link to another socket of the host, which must not be followed. A descriptor also has a short path.
    const fd = openSync(join(this.#options.paths.volume(task.id, ROUTER_VOLUME), ROUTER_SOCKET), O_PATH | constants.O_NOFOLLOW);
    const close = () => closeSync(fd);
    if (fstatSync(fd).isSocket()) return { path: `/proc/self/fd/${fd}`, close };
    close();
    throw new Error(`${ROUTER_SOCKET} of ${router} is no socket`);
  }

  /** Whether a log router gets records in the forward protocol. */
  isForward(record: TaskRecord, router: string): boolean {
    const { container } = dependencyTarget(record.name, { container: router });
    const task = this.#taskOf(record, router);
    return task !== undefined && specOf(task, container)?.logRouter === "forward";
  }

  #taskOf(record: TaskRecord, router: string): TaskRecord | undefined {
    const { task } = dependencyTarget(record.name, { container: router });
    if (task === record.name) return record;
    return [...this.#options.records.values()].findLast((one) => one.group === record.group && one.name === task);
  }
}

function addressOf(router: string, task: TaskRecord | undefined): string {
  const address = task?.network?.addresses[0];
  if (address === undefined) throw new Error(`the log router ${router} has no address: its task has no network of its own`);
  return address.split("/")[0]!;
}

/** Readable for every user in the container, whatever the umask of this process. */
function writeReadable(directory: string, name: string, text: string): void {
  makeOwnDirectory(directory, { mode: 0o755 });
  writeOwnFile(join(directory, name), text, 0o644);
}
