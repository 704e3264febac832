/** Gives log routers their configuration, and the containers that send to them their address. */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { join } from "node:path";
import type { SocketPath } from "../../logs/index.ts";
import { ROUTER_VOLUME, specOf, type TaskRecord } from "../../model/index.ts";
import { makeOwnDirectory, removeOwnFile, writeOwnFile } from "../../own/index.ts";
import {
  type Incarnation,
  type LogRouterPlacement,
  ROUTER_PORT,
  ROUTER_SOCKET,
  routerConfig,
  withRouterSecrets,
} from "../../plan/index.ts";
import { dependencyTarget } from "../../spec/index.ts";
import { O_PATH } from "../../volumes/index.ts";
import type { Paths } from "../paths.ts";

export interface LogRoutersOptions {
  readonly paths: Paths;
  readonly records: () => ReadonlyMap<string, TaskRecord>;
}

export class LogRouters {
  readonly #options: LogRoutersOptions;

  constructor(options: LogRoutersOptions) {
    this.#options = options;
  }

  /** Prepares a container before it is created. @throws Error: its log router has no address; the errors of the system calls */
  begin(record: TaskRecord, { container, runtimeId }: Incarnation): void {
    const spec = specOf(record, container);
    if (spec?.log?.router !== undefined) this.env(record, container);
    if (spec?.logRouter !== true) return;
    const { paths } = this.#options;
    const directory = paths.logRouter(record.id, runtimeId);
    makeReadable(directory, "config.json", `${JSON.stringify(routerConfig(record.spec, spec), null, 2)}\n`);
    // The secrets are mounted on these files.
    const own = (spec.secrets ?? []).length;
    for (const { target } of (withRouterSecrets(record.spec, spec).secrets ?? []).slice(own))
      makeReadable(join(directory, "secrets"), target!.slice(target!.lastIndexOf("/") + 1), "");
    // The program could not listen on the socket that an earlier incarnation has left.
    removeOwnFile(join(paths.volume(record.id, ROUTER_VOLUME), ROUTER_SOCKET));
  }

  /** Directories for a log router; undefined: the container is none. */
  placement(record: TaskRecord, { container, runtimeId }: Incarnation): LogRouterPlacement | undefined {
    if (specOf(record, container)?.logRouter !== true) return undefined;
    const { paths } = this.#options;
    return { config: paths.logRouter(record.id, runtimeId), run: paths.volume(record.id, ROUTER_VOLUME) };
  }

  /** Variables with the address of the container's log router; undefined: it has none. @throws Error: the router has no address */
  env(record: TaskRecord, container: string): Readonly<Record<string, string>> | undefined {
    const router = specOf(record, container)?.log?.router;
    if (router === undefined) return undefined;
    // Containers of one task share a network, whatever its mode is.
    const host = router.includes("/") ? addressOf(router, this.#taskOf(record, router)) : "127.0.0.1";
    return { FLUENT_HOST: host, FLUENT_PORT: String(ROUTER_PORT) };
  }

  /** The socket on which a log router listens now. @throws Error: there is none */
  socket(record: TaskRecord, router: string): SocketPath {
    const task = this.#taskOf(record, router);
    if (task === undefined) throw new Error(`the log router ${router} does not exist`);
    // The router may have made a symbolic link to another socket of the host, which must not be followed. A descriptor also has a short path.
    const fd = openSync(join(this.#options.paths.volume(task.id, ROUTER_VOLUME), ROUTER_SOCKET), O_PATH | constants.O_NOFOLLOW);
    const close = () => closeSync(fd);
    if (fstatSync(fd).isSocket()) return { path: `/proc/self/fd/${fd}`, close };
    close();
    throw new Error(`${ROUTER_SOCKET} of ${router} is no socket`);
  }

  #taskOf(record: TaskRecord, router: string): TaskRecord | undefined {
    const { task } = dependencyTarget(record.name, { container: router });
    if (task === record.name) return record;
    return [...this.#options.records().values()].findLast((one) => one.group === record.group && one.name === task);
  }
}

function addressOf(router: string, task: TaskRecord | undefined): string {
  const address = task?.network?.addresses[0];
  if (address === undefined) throw new Error(`the log router ${router} has no address: its task has no network of its own`);
  return address.split("/")[0]!;
}

/** Readable for every user in the container, whatever the umask of this process. */
function makeReadable(directory: string, name: string, text: string): void {
  makeOwnDirectory(directory, { mode: 0o755 });
  writeOwnFile(join(directory, name), text, 0o644);
}
