/** The directories in which shared proxies make their admin sockets. A directory belongs to the name of the proxy, so that it stays when the proxy is replaced. */
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeOwnFile, unmountBelow } from "../../../node/index.ts";
import type { TaskRecord } from "../../model/index.ts";
import { makeScratch, removeEmpty, removeScratch } from "../../volumes/index.ts";
import type { Paths } from "../paths.ts";
import { type Contribution, engineMount, type TaskResource } from "./resource.ts";

/** In the containers of the proxy, and in those of the tasks that use it. */
const TARGET = "/run/shared-proxy";
const PROXY_SOCKET = "admin.sock";

interface ProxyPlacement {
  /** Directory of the host for the admin socket. */
  readonly directory: string;
  /** Whether the task is the proxy, which makes the socket. */
  readonly isOwn: boolean;
}

export interface SharedProxiesOptions {
  readonly paths: Paths;
  readonly records: ReadonlyMap<string, TaskRecord>;
}

export class SharedProxies implements TaskResource {
  readonly name = "shared-proxies";
  readonly #options: SharedProxiesOptions;

  constructor(options: SharedProxiesOptions) {
    this.#options = options;
  }

  /** @throws Error: the proxy of the task has no directory; the errors of the system calls */
  prepare(record: TaskRecord): void {
    const place = this.placement(record);
    if (place === undefined) return;
    if (!place.isOwn) {
      if (!existsSync(place.directory)) throw new Error(`the shared proxy ${record.spec.sharedProxy} is not there`);
      return;
    }
    mkdirSync(dirname(place.directory), { recursive: true, mode: 0o700 });
    makeScratch(place.directory);
    // The program could not listen on the socket that an earlier incarnation has left.
    if (record.containers.every(({ known }) => known !== "RUNNING")) removeOwnFile(join(place.directory, PROXY_SOCKET));
  }

  contribute(record: TaskRecord): Contribution {
    const place = this.placement(record);
    if (place === undefined) return {};
    return {
      mounts: [engineMount(TARGET, place.directory, place.isOwn ? "rw" : "ro")],
      engineEnv: { SHARED_PROXY_SOCKET: `${TARGET}/${PROXY_SOCKET}` },
    };
  }

  /** undefined: the task is no proxy, and uses none. */
  placement({ group, name, spec }: TaskRecord): ProxyPlacement | undefined {
    const isOwn = spec.start === "needed";
    const proxy = isOwn ? name : spec.sharedProxy;
    return proxy === undefined ? undefined : { directory: this.#options.paths.sharedProxy(group, proxy), isOwn };
  }

  /** Removes the directory of a proxy, unless another task has its name. @throws the errors of the system calls */
  async forget(_task: string, record: TaskRecord | undefined): Promise<void> {
    if (record?.spec.start !== "needed") return;
    const { paths, records } = this.#options;
    const isOther = ({ id, group, name, spec }: TaskRecord) =>
      id !== record.id && group === record.group && name === record.name && spec.start === "needed";
    const directory = paths.sharedProxy(record.group, record.name);
    const removed = paths.removedProxy(record.id);
    // It is moved away at once: while it is removed, the next proxy of this name may make its own.
    if (existsSync(directory) && ![...records.values()].some(isOther)) {
      mkdirSync(dirname(removed), { recursive: true, mode: 0o700 });
      renameSync(directory, removed);
    }
    await unmountBelow(removed);
    await removeScratch(removed);
    for (const parent of [dirname(removed), dirname(directory), dirname(dirname(directory))]) removeEmpty(parent);
  }
}
