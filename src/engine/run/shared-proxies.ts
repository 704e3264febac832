/** The directories in which shared proxies make their admin sockets. A directory belongs to the name of the proxy, so that it stays when the proxy is replaced. */
import { chmodSync, existsSync, mkdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TaskRecord } from "../model/index.ts";
import { PROXY_SOCKET, type ProxyPlacement } from "../plan/index.ts";
import { removeScratch } from "../volumes/index.ts";
import type { Paths } from "./paths.ts";

/** Other users of the host cannot reach it, because the parent directories are closed to them. */
const MODE = 0o777;

export interface SharedProxiesOptions {
  readonly paths: Paths;
  readonly records: () => ReadonlyMap<string, TaskRecord>;
}

export class SharedProxies {
  readonly #options: SharedProxiesOptions;

  constructor(options: SharedProxiesOptions) {
    this.#options = options;
  }

  /** Prepares a container before it is created. @throws Error: its proxy has no directory; the errors of the system calls */
  begin(record: TaskRecord): void {
    const place = this.placement(record);
    if (place === undefined) return;
    if (!place.isOwn) {
      if (!existsSync(place.directory)) throw new Error(`the shared proxy ${record.spec.sharedProxy} is not there`);
      return;
    }
    mkdirSync(dirname(place.directory), { recursive: true, mode: 0o700 });
    mkdirSync(place.directory, { recursive: true });
    chmodSync(place.directory, MODE);
    // The program could not listen on the socket that an earlier incarnation has left.
    if (record.containers.every(({ known }) => known !== "RUNNING")) rmSync(join(place.directory, PROXY_SOCKET), { force: true });
  }

  /** The directory for the containers of a proxy, and of a task that uses one; undefined: the task is neither. */
  placement({ group, name, spec }: TaskRecord): ProxyPlacement | undefined {
    const isOwn = spec.start === "needed";
    const proxy = isOwn ? name : spec.sharedProxy;
    return proxy === undefined ? undefined : { directory: this.#options.paths.sharedProxy(group, proxy), isOwn };
  }

  /** Removes the directory of a proxy that is forgotten, unless another task has its name. @throws the errors of the system calls */
  async release(record: TaskRecord): Promise<void> {
    if (record.spec.start !== "needed") return;
    const isOther = ({ id, group, name, spec }: TaskRecord) =>
      id !== record.id && group === record.group && name === record.name && spec.start === "needed";
    if ([...this.#options.records().values()].some(isOther)) return;
    const directory = this.#options.paths.sharedProxy(record.group, record.name);
    await removeScratch(directory);
    removeEmpty(dirname(directory));
    removeEmpty(dirname(dirname(directory)));
  }
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!["ENOTEMPTY", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
