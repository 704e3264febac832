/** Bundles, containers and the runtime under test for the test of one requirement. Cleaned up after it. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CallOptions, call, type Result } from "../support/call.ts";
import { type Config, sampleConfig } from "../support/config.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import * as assert from "./assert.ts";
import { CGROUP_PARENT, cgroupsBelow, removeCgroups } from "./cgroups.ts";
import { Container, waitFor } from "./container.ts";
import { processesOf } from "./leaks.ts";
import { executableOf, parseMountinfo } from "./observe.ts";

export interface Runtime {
  readonly name: string;
  readonly path: string;
}

/** Thrown by `skip`. */
export class Skip extends Error {}

export type Change = (config: Config) => void;

/** A long-lived program that ends by itself before it can become a nuisance, and dies by SIGTERM. */
const SLEEPER = ["/bin/sh", "-c", "trap 'exit 0' TERM; sleep 60 & wait"];

export class Context {
  /** Bundles made so far, with the configuration of each: what a test has asked for. */
  readonly bundles: { readonly path: string; readonly config: unknown }[] = [];
  readonly #containers: Container[] = [];
  readonly #cleanups: (() => void | Promise<void>)[] = [];
  #count = 0;

  constructor(
    readonly item: string,
    readonly runtime: Runtime,
    /** Of this test alone, empty at first. */
    readonly directory: string,
    /** Busybox with the probe as /probe: shared, not to be written to. */
    readonly sharedRootfs: string,
    private readonly untouchedRootfs: string,
  ) {
    mkdirSync(directory, { recursive: true, mode: 0o711 });
  }

  /** True for runt: what no other runtime promises (words, warnings, extensions). */
  get isRunt(): boolean {
    return this.runtime.name.startsWith("runt");
  }

  /** The cgroup all of this test's containers are below. */
  get cgroup(): string {
    return `${CGROUP_PARENT}/${this.item}`;
  }

  /** Directory of the container states. */
  get root(): string {
    return join(this.directory, "root");
  }

  skip(reason: string): never {
    throw new Skip(reason);
  }

  /** Undone after the test, the last first, whatever happened. */
  cleanup(action: () => void | Promise<void>): void {
    this.#cleanups.push(action);
  }

  /** A new empty directory of the test. */
  scratch(name = "scratch"): string {
    const path = join(this.directory, `${name}-${++this.#count}`);
    mkdirSync(path, { mode: 0o755 });
    return path;
  }

  /** A root file system of the test's own, to be written to. In the shared one mounts of other tests have made their mount points. */
  rootfs(): string {
    const path = this.scratch("rootfs");
    execFileSync("cp", ["-ax", `${this.untouchedRootfs}/.`, path]);
    return path;
  }

  /** A bundle: the hello sample's configuration with a writable-by-nobody shared root, changed. Returns its directory. */
  bundle(change: Change = () => {}): string {
    const path = join(this.directory, `bundle-${++this.#count}`);
    mkdirSync(path);
    const config = sampleConfig("hello");
    config.root.path = this.sharedRootfs;
    config.process.args = [...SLEEPER];
    config.linux.cgroupsPath = `${this.cgroup}/${this.#count}`;
    change(config);
    // JSON has no 64-bit integers of its own: bigint values are written as plain numbers.
    const text = JSON.stringify(config, (_, value) => (typeof value === "bigint" ? `@@${value}@@` : value), 2).replaceAll(
      /"@@(-?\d+)@@"/g,
      "$1",
    );
    writeFileSync(join(path, "config.json"), text);
    this.bundles.push({ path, config });
    return path;
  }

  /** Run the runtime with this test's --root. */
  call(args: readonly string[], options?: CallOptions): Promise<Result> {
    return call(this.directory, [this.runtime.path, "--root", this.root, ...args], options);
  }

  /** The runtime started by a shell that changes something of itself first; the script ends with exec "$@". */
  shell(script: string, args: readonly string[], options?: CallOptions): Promise<Result> {
    return call(this.directory, ["/bin/sh", "-c", script, "sh", this.runtime.path, "--root", this.root, ...args], options);
  }

  /** A handle with a new id; whatever exists of it is deleted after the test. call: how the runtime is started, if in another way. */
  container(bundle: string, call: Container["call"] = (args, options) => this.call(args, options)): Container {
    const container = new Container(`${this.item.toLowerCase()}-${process.pid}-${++this.#count}`, bundle, call);
    this.#containers.push(container);
    return container;
  }

  /** Create, expecting success. Its program sleeps unless the change says otherwise. */
  async create(change?: Change, { flags = [], ...options }: CallOptions & { readonly flags?: readonly string[] } = {}): Promise<Container> {
    const container = this.container(this.bundle(change));
    await container.ok(["create", "--bundle", container.bundle, ...flags, container.id], options);
    return container;
  }

  /** Create and start. */
  async start(change?: Change, options: CallOptions & { readonly flags?: readonly string[] } = {}): Promise<Container> {
    const container = await this.create(change, options);
    const pid = await container.pid();
    const waiting = executableOf(pid);
    await container.start();
    // Some runtimes return before init has become the program.
    await waitFor(() => executableOf(pid) !== waiting, "the program");
    return container;
  }

  /** `run` in the foreground with this shell command as the program. Its result, whatever it is. */
  run(command: string | readonly string[], change: Change = () => {}, options?: CallOptions): Promise<Result> {
    const container = this.container(
      this.bundle((config) => {
        config.process.args = typeof command === "string" ? ["/bin/sh", "-c", command] : [...command];
        change(config);
      }),
    );
    return this.call(["run", "--bundle", container.bundle, container.id], options);
  }

  /** The same, expecting status 0. Returns what the program printed. */
  async output(command: string | readonly string[], change?: Change, options?: CallOptions): Promise<string> {
    const result = await this.run(command, change, options);
    assert.equal(result.status, 0, `status ${result.status}: ${result.stderr || result.stdout}`);
    return result.stdout;
  }

  /**
   * `create` of this configuration must fail and leave nothing. runt must name the field by its JSON pointer
   * (a string: exactly it; a pattern where more than one field is to blame); other runtimes need only fail.
   * prefix: a command that runs the runtime, where one that does not refuse would change the host.
   */
  async refused(change: Change, pointer: string | RegExp, prefix: readonly string[] = []): Promise<Result> {
    const start = (args: readonly string[]) => call(this.directory, [...prefix, this.runtime.path, "--root", this.root, ...args]);
    return this.refusedBundle(this.bundle(change), pointer, [], start);
  }

  /** flags: of create. start: how the runtime is started, if in another way. */
  async refusedBundle(
    bundle: string,
    pointer?: string | RegExp,
    flags: readonly string[] = [],
    start = (args: readonly string[]): Promise<Result> => this.call(args),
  ): Promise<Result> {
    const container = this.container(bundle);
    const before = this.traces();
    const log = join(this.directory, `log-${container.id}`);
    const result = await start(["--log", log, "--log-format", "json", "create", "--bundle", bundle, ...flags, container.id]);
    assert.notEqual(result.status, 0, "create succeeded");
    await this.nothingOf(container, before);
    if (this.isRunt) {
      const line = JSON.parse(readFileSync(log, "utf8")) as { readonly msg: string; readonly pointer?: string };
      assert.ok(line.msg.length > 0, "no message");
      if (typeof pointer === "string") assert.equal(line.pointer, pointer, line.msg);
      else if (pointer !== undefined) assert.match(line.pointer ?? "", pointer, line.msg);
    }
    return result;
  }

  /** `create` must succeed, and what it says on stderr must hold a line that matches. */
  async warned(change: Change, warning: RegExp): Promise<Container> {
    const container = this.container(this.bundle(change));
    const result = await this.call(["--debug", "create", "--bundle", container.bundle, container.id]);
    assert.equal(result.status, 0, result.stderr);
    const lines = result.stderr.split("\n").filter((line) => !this.isRunt || line.startsWith("warning: "));
    assert.ok(
      lines.some((line) => warning.test(line)),
      `no warning like ${warning}: ${result.stderr}`,
    );
    return container;
  }

  /** No trace of a container: state, processes, mounts, cgroups, beyond what there was before. */
  async nothingOf(container: Container, before: readonly string[] = []): Promise<void> {
    assert.notEqual((await this.call(["state", container.id])).status, 0, "the state is still known");
    assert.ok(!existsSync(join(this.root, container.id)), "the state directory is still there");
    const known = new Set(before);
    assert.deepEqual(
      this.traces().filter((trace) => !known.has(trace)),
      [],
    );
  }

  /** Processes, mounts and cgroups of this test that exist now. */
  traces(): string[] {
    const mounts = parseMountinfo(readFileSync("/proc/self/mountinfo", "utf8"))
      .filter(({ target }) => target.startsWith(`${this.directory}/`))
      .map(({ target }) => `mount ${target}`);
    return [...processesOf(this.directory, `${this.cgroup}/`), ...mounts, ...this.#cgroupsLeft()];
  }

  /** Only runt has promised to remove the levels above a container's cgroup. */
  #cgroupsLeft(): string[] {
    return cgroupsBelow(this.cgroup)
      .filter((path) => this.isRunt || !path.endsWith(this.cgroup))
      .map((path) => `cgroup ${path}`);
  }

  /** Delete what is left, and tell what could not be removed: a leak, which fails the test. */
  async finish(): Promise<string[]> {
    for (const container of this.#containers) {
      if (existsSync(join(this.root, container.id))) await container.call(["delete", "--force", container.id]);
    }
    const troubles: string[] = [];
    for (const action of this.#cleanups.reverse()) {
      try {
        await action();
      } catch (error) {
        troubles.push(String(error));
      }
    }
    let left = this.traces();
    for (const deadline = Date.now() + PATIENCE_MS; left.length > 0 && Date.now() < deadline; left = this.traces()) {
      await new Promise((done) => setTimeout(done, 20));
    }
    removeCgroups(this.cgroup);
    for (const mount of left.filter((line) => line.startsWith("mount ")).reverse()) spawnSync("umount", ["-l", mount.slice(6)]);
    rmSync(this.directory, { recursive: true, force: true });
    return [...left, ...troubles];
  }
}
