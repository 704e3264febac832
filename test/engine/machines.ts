/** Tasks in virtual machines, for tests: each machine boots by software emulation. */
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { isThere, VM_CONFIG, VM_TIMEOUT } from "../support/vm.ts";
import { type Scene, until } from "./support.ts";
import { SLEEP } from "./tasks.ts";

/** For /bin/sh: says so on stdout, and stays. */
export const STAY = `echo up on $(uname -r); ${SLEEP}`;

/** To be called inside `describe`, after `useEngine`. */
export function useMachines(scene: Scene) {
  const program = () => join(scene.directory, "runt-vm");
  beforeEach(() => {
    if (!existsSync(program())) symlinkSync(join(REPOSITORY, "bin/runt"), program());
  });
  const options = () => ({ args: ["--runtime-class", `vm=${program()}`], env: { RUNT_VM_CONFIG: VM_CONFIG } });

  /** `containers` have a name and a script. */
  function pod(name: string, containers: readonly object[], spec: object = {}): string {
    const all = containers.map((one) => ({ ...one }) as { name: string; script?: string });
    const roots = ["a", "b", "first"].map((one) => [`runt.dev/rootfs.${one}`, scene.rootfs()]);
    const written = all.map(({ script = STAY, ...one }) => ({ command: ["/bin/sh", "-c", script], ...one }));
    return JSON.stringify({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name, annotations: Object.fromEntries(roots) } },
      spec: { runtimeClassName: "vm", terminationGracePeriodSeconds: 5, containers: written, ...spec },
    });
  }
  const apply = async (text: string) =>
    expect(await scene.ctl("apply", "-f", scene.file("pod.yaml", text))).toMatchObject({ status: 0, stderr: "" });
  const status = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout).status;
  const reaches = async (name: string, phase: string) => {
    let last: unknown;
    const reached = async () => {
      last = await status(name);
      const now = (last as { phase: string }).phase;
      // It does not become another one.
      if (now === "Failed" && phase !== now) throw new Error(JSON.stringify(last));
      return now === phase;
    };
    await until(reached, VM_TIMEOUT, () => JSON.stringify(last));
  };
  const isReady = (name: string) => async () =>
    (await status(name)).conditions.some(({ type, status: word }: Record<string, string>) => type === "Ready" && word === "True");
  const exec = (name: string, container: string, command: string) =>
    scene.ctl("exec", name, "-c", container, "--", "/bin/sh", "-c", command);
  const said = async (name: string, container: string, command: string) => (await exec(name, container, command)).stdout.trim();
  const logs = async (name: string, container: string) => (await scene.ctl("logs", name, "-c", container)).stdout;
  /** The one that runs. */
  const containerOf = (name: string) => scene.list().find(({ id, status: word }) => id.includes(`.${name}`) && word === "running")!;
  const deleted = async (name: string, machine: ReadonlyMap<string, number>) => {
    expect(await scene.ctl("delete", name)).toMatchObject({ status: 0, stderr: "" });
    expect(scene.list()).toEqual([]);
    for (const [one, pid] of machine) expect(isThere(pid), one).toBe(false);
  };

  return { options, pod, apply, status, reaches, isReady, exec, said, logs, containerOf, deleted };
}
