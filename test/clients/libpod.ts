/**
 * Podman: conmon makes containers and processes, and libpod calls the rest itself, with nearly nothing in the environment. Its log is one
 * JSON value: a second line would make Podman show raw text instead.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RUNTIME } from "../support/harness.ts";
import type { Client, Output } from "./client.ts";
import { type Conmon, type ConmonOptions, conmonCreate, conmonExec } from "./conmon.ts";

export class Libpod {
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  create(id: string, directory: string, more: Partial<ConmonOptions> = {}): Promise<Conmon> {
    return this.#logged(directory, (options) => conmonCreate(this.#client, id, { ...options, ...more }));
  }

  async exec(id: string, directory: string, document: object, more: Partial<ConmonOptions> = {}): Promise<Conmon> {
    const file = join(directory, `exec-process-${id}`);
    writeFileSync(file, JSON.stringify(document));
    try {
      return await this.#logged(directory, (options) => conmonExec(this.#client, id, file, { ...options, ...more }));
    } finally {
      rmSync(file);
    }
  }

  /** libpod's own calls know XDG_RUNTIME_DIR and nothing else: no PATH and no HOME. */
  call(...args: readonly string[]): Promise<Output> {
    return this.#client.run([RUNTIME, ...args], { env: { XDG_RUNTIME_DIR: "/run/user/0" } });
  }

  /** With the log that libpod turns into its own error, as one JSON value. */
  async #logged(directory: string, action: (options: ConmonOptions) => Promise<Conmon>): Promise<Conmon> {
    const log = join(directory, "oci-log");
    rmSync(log, { force: true });
    try {
      return await action({ directory, runtimeArguments: ["--log-format=json", "--log", log] });
    } catch (error) {
      if (!existsSync(log)) throw error;
      const { level, msg } = JSON.parse(readFileSync(log, "utf8")) as { readonly level: string; readonly msg: string };
      throw new OciError(`${level}: ${msg}`);
    }
  }
}

/** The exit status of `podman run` and `podman exec`, which comes from the words of the message. */
export class OciError extends Error {
  get exitStatus(): 126 | 127 | undefined {
    if (/permission denied|operation not permitted/i.test(this.message)) return 126;
    return /executable file not found in|no such file or directory|open executable/i.test(this.message) ? 127 : undefined;
  }
}
