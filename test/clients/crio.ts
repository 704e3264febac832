/**
 * CRI-O: conmon for containers and synchronous execs (`--root=DIR`, no log), and calls of its own (`--root DIR`) that know nothing but
 * XDG_RUNTIME_DIR and PATH. It asks for the state all the time and reads stdout and stderr together.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME } from "../support/harness.ts";
import type { Client, End, Output, Started } from "./client.ts";
import { type Conmon, conmonCreate, conmonExec } from "./conmon.ts";

const ENVIRONMENT = { CRI_O_EXTERNAL: "1", XDG_RUNTIME_DIR: "/run/user/0", PATH: process.env["PATH"] ?? "" };
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

export interface CrioState {
  readonly status: string;
  readonly pid: number;
}

export class Crio {
  readonly #client: Client;
  readonly #root: string;

  constructor(client: Client, root: string) {
    this.#client = client;
    this.#root = `${root}/crio`;
  }

  create(id: string, directory: string): Promise<Conmon> {
    return conmonCreate(this.#client, id, { directory, runtimeArguments: [`--root=${this.#root}`] });
  }

  /** Also of probes. */
  execSync(id: string, directory: string, document: object): Promise<Conmon> {
    return this.#withDocument(directory, document, (file) =>
      conmonExec(this.#client, id, file, { directory, runtimeArguments: [`--root=${this.#root}`] }),
    );
  }

  /** In the foreground: the runtime's own descriptors are pipes or a terminal. The document may be removed when the process has ended. */
  async exec(id: string, directory: string, document: object, stdio: readonly End[]): Promise<Started> {
    const file = join(directory, "exec-process");
    writeFileSync(file, JSON.stringify(document));
    return this.#client.start([RUNTIME, "--root", this.#root, "exec", "--process", file, id], {
      stdio,
      env: ENVIRONMENT,
      ownSession: stdio[0] === stdio[1],
    });
  }

  /** Status, pid and times, of which a bad one would be an error. @throws Error without a state */
  async state(id: string): Promise<CrioState> {
    const { status, text } = await this.call("state", id);
    if (status !== 0) throw new Error(text);
    const state = JSON.parse(text) as CrioState & Readonly<Record<"ociVersion" | "id" | "bundle" | "created", string>>;
    if (state.id !== id || state.bundle === "" || state.ociVersion === "" || !RFC3339.test(state.created)) throw new Error(text);
    return state;
  }

  /** The document on stdin, named by a word of its own. */
  update(id: string, resources: object): Promise<Output> {
    return this.#call(["update", "--resources", "-", id], JSON.stringify(resources));
  }

  call(...args: readonly string[]): Promise<Output> {
    return this.#call(args);
  }

  #call(args: readonly string[], input?: string): Promise<Output> {
    return this.#client.run([RUNTIME, "--root", this.#root, ...args], { env: ENVIRONMENT, ...(input === undefined ? {} : { input }) });
  }

  async #withDocument<T>(directory: string, document: object, action: (file: string) => Promise<T>): Promise<T> {
    const file = join(directory, "exec-process");
    writeFileSync(file, JSON.stringify(document));
    try {
      return await action(file);
    } finally {
      rmSync(file);
    }
  }
}

/** Text on stderr that CRI-O takes for "there is no such process". */
export function isNotFound({ text }: Output): boolean {
  return /no such process|container not running|invalid process/.test(text);
}

/** A handler without these is only logged, and then has neither user namespaces nor recursive read-only mounts. */
export function handlerFeatures({ text }: Output): { readonly recursiveReadOnly: boolean; readonly userNamespaces: boolean } {
  const features = JSON.parse(text) as {
    readonly ociVersionMin: string;
    readonly ociVersionMax: string;
    readonly mountOptions: readonly string[];
    readonly linux: { readonly mountExtensions: { readonly idmap: { readonly enabled: boolean } } };
  };
  if (!features.ociVersionMin || !features.ociVersionMax) throw new Error("no versions");
  return { recursiveReadOnly: features.mountOptions.includes("rro"), userNamespaces: features.linux.mountExtensions.idmap.enabled };
}
