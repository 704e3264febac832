/** The template of a pool: what its containers are made of, which one it is, and the process that one of them gets. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { type Claim, TEMPLATE } from "../../shared/protocol/index.ts";
import { exactJson } from "../../shared/text/index.ts";
import { rootfsOf } from "../launch/bundle.ts";
import type { LaunchCommand } from "../launch/command.ts";
import type { GivenProcess } from "./claim.ts";
import type { TakeRequest } from "./options.ts";

/** Annotation: which template a container was made of, by its digest. */
export const DIGEST = "io.runt.pool";

/** Which template there is now: another directory in the place of its root file system makes it another one. */
export class TemplateDigest {
  readonly #rootfs: string;
  readonly #text: string;
  #root = "";
  #digest = "";

  constructor(launch: LaunchCommand) {
    this.#rootfs = rootfsOf(launch);
    this.#text = exactJson(launch);
  }

  /** Each claim asks: without a new root it is one system call. @throws the error of stat(2): there is no root */
  now(): string {
    const { dev, ino } = statSync(this.#rootfs, { bigint: true });
    const root = `${dev}:${ino}`;
    if (root !== this.#root) {
      this.#digest = createHash("sha256").update(`${this.#text} ${root}`).digest("hex");
      this.#root = root;
    }
    return this.#digest;
  }
}

/** `process` of its configuration, as create has got it. */
export interface Process {
  readonly args: readonly string[];
  readonly env?: readonly string[];
  readonly cwd: string;
}

export function commandOf(launch: LaunchCommand, digest: string): LaunchCommand {
  const annotations = { [TEMPLATE]: "true", ...launch.annotations, [DIGEST]: digest };
  return { ...launch, annotations, stdio: { stdin: "pipe", stdout: "pipe", stderr: "pipe" } };
}

/** What init is told. */
export function givenBy(template: Process, deadlineMs: number, { cmd, args = [], env = {}, cwd, files = {} }: TakeRequest): GivenProcess {
  const contents = Object.entries(files).map(([path, file]) => {
    const { content, mode = 0o644 } = typeof file === "string" || file instanceof Uint8Array ? { content: file } : file;
    return { path, mode, content: typeof content === "string" ? Buffer.from(content) : content };
  });
  const claim: Claim = {
    args: cmd === undefined ? template.args : [cmd, ...args],
    env: [
      ...(template.env ?? []).filter((entry) => !Object.hasOwn(env, entry.slice(0, entry.indexOf("=")))),
      ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
    ],
    cwd: cwd ?? template.cwd,
    ...(contents.length > 0 && { files: contents.map(({ path, mode, content }) => ({ path, mode, bytes: content.length })) }),
  };
  return { claim, contents: contents.map(({ content }) => content), deadlineMs };
}
