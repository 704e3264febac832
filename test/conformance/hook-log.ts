/** Hooks that write down when they ran and what they saw, for the tests of all six kinds. */
import { chmodSync, copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CallOptions, Result } from "../support/call.ts";
import type { Config } from "../support/config.ts";
import { program } from "../support/programs.ts";
import * as assert from "./assert.ts";
import { type Container, type State, waitFor } from "./container.ts";
import type { Change, Context } from "./context.ts";
import { namespaceOf } from "./observe.ts";

/** In the order of a container's life. */
export const KINDS = ["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"] as const;
export type Kind = (typeof KINDS)[number];

/** Those that `create` runs, and those after whose failure the container is gone. */
export const AT_CREATE: readonly Kind[] = KINDS.slice(0, 3);
export const DECISIVE: readonly Kind[] = KINDS.slice(0, 5);

export interface Hook {
  path: string;
  args?: string[];
  env?: string[];
  timeout?: number;
}
export type Hooks = Partial<Record<Kind, Hook[]>>;

/** ociVersion of a state document. */
export const SEMVER = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

/** Where the log is in the container, and so for startContainer hooks. */
const INSIDE = "/tmp";

export const script = (text: string, more: Partial<Hook> = {}): Hook => ({ path: "/bin/sh", args: ["sh", "-c", text], ...more });

/** For sed: a JSON number in a state document that hooks can read without a parser. */
export const PID_OF_STATE = 's/.*"pid": *\\([0-9]*\\).*/\\1/p';

/** Files below /proc/PID/ns of the namespaces that a test's container has of its own. */
export const OWN_NAMESPACES = ["cgroup", "ipc", "mnt", "net", "pid", "uts"] as const;

/** For a hook: the links of a process's namespaces, one a line. */
export const printNamespaces = (pid: string) => `for type in ${OWN_NAMESPACES.join(" ")}; do readlink /proc/${pid}/ns/$type; done`;

export const namespacesOf = (pid: number | "self"): string[] => OWN_NAMESPACES.map((type) => namespaceOf(pid, type));

/** All results, or the first failure, but not before the last has ended: nothing runs on into the clean-up. */
export async function together<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

export class HookLog {
  readonly directory: string;

  constructor(readonly context: Context) {
    this.directory = context.scratch("log");
    chmodSync(this.directory, 0o777);
  }

  /** The log directory as a hook of this kind sees it. */
  place(kind: Kind): string {
    return kind === "startContainer" ? INSIDE : this.directory;
  }

  /**
   * A hook that keeps its stdin as KIND.state, adds its kind to the order, runs the text with $log (the directory) and $pid (of the
   * state) set, keeps what that prints as KIND.out, and succeeds.
   */
  note(kind: Kind, text = ":", more: Partial<Hook> = {}): Hook {
    const state = `$log/${kind}.state`;
    const begin = `log=${this.place(kind)}; cat > ${state}; pid=$(tr -d '\\n' < ${state} | sed -n '${PID_OF_STATE}'); echo ${kind} >> $log/order`;
    return script(`${begin}; { ${text}; } > $log/${kind}.out 2>&1; exit 0`, more);
  }

  /** One such hook of each kind. */
  all(text?: string): Hooks {
    return Object.fromEntries(KINDS.map((kind) => [kind, [this.note(kind, text)]]));
  }

  /** A hook of this kind that fails after adding its kind to the order. */
  fail(kind: Kind, text = "exit 3"): Hook {
    return script(`echo ${kind} >> ${this.place(kind)}/order; ${text}`);
  }

  /** The hook probe for a kind: its records are `${kind}-probe.cmdline`, `.environ`, `.stdin`. */
  probe(kind: Kind, more: Partial<Hook> = {}): Hook {
    const name = `${kind}-probe`;
    copyFileSync(program("hook"), join(this.directory, name));
    return { path: join(this.place(kind), name), ...more };
  }

  /** A configuration with these hooks, whose program adds "program" to the order and sleeps. */
  with(hooks: Hooks, change: Change = () => {}): Change {
    return (config: Config) => {
      config.mounts.push({ destination: INSIDE, type: "bind", source: this.directory, options: ["rbind", "rw"] });
      config.process.args = ["/bin/sh", "-c", `echo program >> ${INSIDE}/order; trap 'exit 0' TERM; sleep 60 & wait`];
      config.hooks = hooks;
      change(config);
    };
  }

  create(hooks: Hooks, change?: Change, options?: CallOptions): Promise<Container> {
    return this.context.create(this.with(hooks, change), options);
  }

  /** From create to delete; every hook has run then. */
  async life(hooks: Hooks, change?: Change, options?: CallOptions): Promise<Container> {
    const container = await this.create(hooks, change, options);
    await container.start(options);
    await this.programRuns();
    await container.end();
    await container.ok(["delete", container.id], options);
    return container;
  }

  /** start may return before it does. */
  programRuns(): Promise<void> {
    return waitFor(() => this.order().includes("program"), "the program");
  }

  /** Up to the verb that runs hooks of this kind, which is expected to fail. Its result, and the container that should be gone. */
  async failing(kind: Kind, hooks: Hooks, change?: Change): Promise<{ readonly container: Container; readonly result: Result }> {
    const container = this.context.container(this.context.bundle(this.with(hooks, change)));
    let result = await container.call(["create", "--bundle", container.bundle, container.id]);
    if (!AT_CREATE.includes(kind)) {
      assert.equal(result.status, 0, `create: ${result.stderr}`);
      result = await container.call(["start", container.id]);
    }
    assert.notEqual(result.status, 0, `${kind} failed and the verb did not`);
    return { container, result };
  }

  /** Empty when there is no such file. */
  read(name: string): string {
    const path = join(this.directory, name);
    return existsSync(path) ? readFileSync(path, "utf8") : "";
  }

  lines(name: string): string[] {
    return this.read(name).split("\n").filter(Boolean);
  }

  /** The hooks that have run so far, in order. */
  order(): string[] {
    return this.lines("order");
  }

  /** The order without the program: it runs at the same time as a poststart hook. */
  hookOrder(): string[] {
    return this.order().filter((line) => line !== "program");
  }

  state(kind: Kind): State {
    const text = this.read(`${kind}.state`);
    assert.notEqual(text, "", `${kind} has read nothing`);
    return JSON.parse(text);
  }

  /** NUL-separated words of a probe's record; undefined when it has not run. */
  words(kind: Kind, record: "cmdline" | "environ"): string[] | undefined {
    const name = `${kind}-probe.${record}`;
    return existsSync(join(this.directory, name)) ? this.read(name).split("\0").slice(0, -1) : undefined;
  }
}
