/** A stand-in for the resctrl filesystem, which needs hardware: test/probe/resctrl.c, and a mountinfo that calls it by that name. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Result } from "../support/call.ts";
import { program } from "../support/programs.ts";
import { type Container, waitFor } from "./container.ts";
import type { Change, Context } from "./context.ts";
import { parseMountinfo } from "./observe.ts";

export type IntelRdt = Readonly<Record<string, unknown>>;

export const intelRdt =
  (fields: IntelRdt | undefined): Change =>
  (config) =>
    void Object.assign(config.linux, { intelRdt: fields });

export class Resctrl {
  readonly #c: Context;
  readonly #mount: string;
  readonly #log: string;
  readonly #mountinfo: string;

  private constructor(c: Context) {
    const directory = c.scratch("resctrl");
    this.#c = c;
    this.#mount = join(directory, "mount");
    this.#log = join(directory, "log");
    this.#mountinfo = join(directory, "mountinfo");
    mkdirSync(this.#mount);
  }

  static async mount(c: Context): Promise<Resctrl> {
    // The others look at the type or the processor itself.
    if (!c.isRunt) c.skip("needs resctrl (Intel RDT hardware)");
    if (!existsSync("/dev/fuse")) c.skip("needs FUSE, for a stand-in for resctrl");
    const resctrl = new Resctrl(c);
    const server = spawn(program("resctrl"), [resctrl.#mount, resctrl.#log], { stdio: ["ignore", "inherit", "inherit"] });
    c.cleanup(() => {
      spawnSync("umount", ["-l", resctrl.#mount]);
      server.kill("SIGKILL");
    });
    const own = () => readFileSync("/proc/self/mountinfo", "utf8");
    await waitFor(() => parseMountinfo(own()).some(({ target }) => target === resctrl.#mount), "a stand-in for resctrl");
    const lines = own().split("\n");
    const line = lines.find((text) => text.includes(` ${resctrl.#mount} `)) ?? "";
    const others = lines.filter((text) => text !== line && !text.includes(" - resctrl "));
    writeFileSync(resctrl.#mountinfo, [line.replace(" - fuse ", " - resctrl "), ...others].join("\n"));
    return resctrl;
  }

  /** The runtime, where this is all of resctrl. The mount goes with the process. */
  readonly call = (args: readonly string[]): Promise<Result> =>
    this.#c.shell(`mount --bind ${this.#mountinfo} /proc/$$/mountinfo && exec "$@"`, args);

  async create(fields: IntelRdt | undefined): Promise<Container> {
    const bundle = this.#c.bundle(intelRdt(fields));
    const container = this.#c.container(bundle);
    const { status, stderr } = await this.call(["create", "--bundle", bundle, container.id]);
    if (status !== 0) throw new Error(`create: status ${status}: ${stderr}`);
    return container;
  }

  /** create must fail and change no group. */
  async refuses(fields: IntelRdt, pointer: string): Promise<void> {
    const before = this.groups();
    const lines = before.map((group) => this.read(group, "schemata"));
    await this.#c.refusedBundle(this.#c.bundle(intelRdt(fields)), pointer, [], this.call);
    if (JSON.stringify([before, lines]) !== JSON.stringify([this.groups(), before.map((group) => this.read(group, "schemata"))]))
      throw new Error(`the groups have changed: ${this.groups()}`);
  }

  /** A group that somebody else has made. */
  make(group: string, schema?: string): void {
    mkdirSync(join(this.#mount, group));
    if (schema !== undefined) writeFileSync(join(this.#mount, group, "schemata"), `${schema}\n`);
  }

  read(group: string, file: string): string {
    return readFileSync(join(this.#mount, group, file), "utf8");
  }

  tasks(group: string): number[] {
    return this.read(group, "tasks").split("\n").filter(Boolean).map(Number);
  }

  groups(): string[] {
    return readdirSync(this.#mount).filter((name) => existsSync(join(this.#mount, name, "schemata")));
  }

  monitors(group: string): string[] {
    return readdirSync(join(this.#mount, group, "mon_groups"));
  }

  /** Its log of operations: "mkdir /a", "write /a/schemata L3:0=f". */
  history(): string[] {
    return readFileSync(this.#log, "utf8").split("\n").filter(Boolean);
  }
}
