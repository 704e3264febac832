/** A container whose program writes down every signal it gets, for the tests of kill. */
import { copyFileSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { program } from "../support/programs.ts";
import * as assert from "./assert.ts";
import { type Container, waitFor } from "./container.ts";
import type { Context } from "./context.ts";

/** Names and numbers of the standard signals that a program can wait for. */
export const SIGNALS: readonly (readonly [name: string, number: number])[] = Object.entries(constants.signals).filter(
  ([name]) => !["SIGKILL", "SIGSTOP", "SIGIOT", "SIGPOLL", "SIGUNUSED"].includes(name),
);

export class SignalLog {
  readonly #path: string;

  private constructor(
    readonly container: Container,
    directory: string,
  ) {
    this.#path = join(directory, "signals");
  }

  static async start(c: Context): Promise<SignalLog> {
    const directory = c.scratch("signals");
    copyFileSync(program("signals"), join(directory, "program"));
    const container = await c.start((config) => {
      config.mounts.push({ destination: "/tmp", type: "bind", source: directory, options: ["rbind", "rw"] });
      config.process.args = ["/tmp/program", "/tmp/signals"];
    });
    const log = new SignalLog(container, directory);
    await waitFor(() => log.#lines()[0] === "ready", "the program");
    return log;
  }

  #lines(): string[] {
    try {
      return readFileSync(this.#path, "utf8").split("\n").filter(Boolean);
    } catch {
      return [];
    }
  }

  /** kill with these words after the id must bring exactly this signal, to the container's process alone. */
  async expect(number: number, ...words: readonly string[]): Promise<void> {
    const before = this.#lines();
    const what = `kill ID ${words.join(" ")}`;
    await this.container.ok(["kill", this.container.id, ...words]);
    await waitFor(() => this.#lines().length > before.length, `a signal by ${what}`);
    assert.deepEqual(this.#lines().slice(before.length), [String(number)], what);
  }
}
