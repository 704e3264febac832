/** bin/runt started by another program that takes something away from it. */
import { join } from "node:path";
import { type CallOptions, call, type Harness, type Result, RUNTIME } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

export type Run = (args: readonly string[], options?: CallOptions) => Promise<Result>;

/** `prefix`: command that starts the runtime as its last arguments. */
export function below({ directory, root }: Harness, prefix: readonly string[]): Run {
  return (args, options) => call(directory, [...prefix, RUNTIME, "--root", root, ...args], options);
}

/** System calls refused by a filter (test/support/refuse.c), which the container inherits. */
export function refusing(error: "ENOSYS" | "EPERM", calls: string): string[] {
  return [join(REPOSITORY, "build/test/refuse"), error, calls];
}

/** A shell line in a mount namespace of its own, whose changes nobody else sees, and then the runtime. */
export function privately(line: string, unshare: readonly string[] = []): string[] {
  return ["unshare", "--mount", "--propagation", "private", ...unshare, "sh", "-c", `set -e; ${line}; exec "$@"`, "sh"];
}

/** A container's life, one verb after the other. */
export const LIFE = ["create", "start", "exec", "state", "pause", "resume", "kill", "delete", "run"] as const;
export type Verb = (typeof LIFE)[number];

export interface Lived {
  /** The first verb that failed, and its message; undefined: none. */
  readonly failed?: { readonly verb: Verb; readonly status: number; readonly stderr: string };
  /** Output of the programs of exec and run. */
  readonly exec: string;
  readonly run: string;
}

/**
 * `path`: a bundle whose program stays; `short`: one whose program ends. `look`: command of exec. Ends with the first failure; whatever then exists
 * is the harness's to delete.
 */
export async function live(run: Run, id: string, path: string, short: string, look: readonly string[]): Promise<Lived> {
  const args: Record<Verb, readonly string[]> = {
    create: ["create", "-b", path, id],
    start: ["start", id],
    exec: ["exec", id, ...look],
    state: ["state", id],
    pause: ["pause", id],
    resume: ["resume", id],
    kill: ["kill", id, "KILL"],
    delete: ["delete", "--force", id],
    run: ["run", "-b", short, id],
  };
  const output: Partial<Record<Verb, string>> = {};
  for (const verb of LIFE) {
    const { status, stdout, stderr } = await run(args[verb]);
    if (status !== 0) return { failed: { verb, status, stderr }, exec: output.exec ?? "", run: output.run ?? "" };
    output[verb] = stdout;
  }
  return { exec: output.exec ?? "", run: output.run ?? "" };
}

/** An error for people: one line of runt that is no defect and names what went wrong. */
export const ONE_LINE = /^runt: (?!internal error)[^\n]+\n$/;
