/** Attacks by programs of the image that hooks execute. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, held, heldIf, type Outcome } from "../attack.ts";
import { withVolume } from "../inside.ts";
import type { Subject } from "../subject.ts";

/** What a startContainer hook executes lies in the image: without the filter it makes the calls that the program may not make. */
async function unfilteredHook(subject: Subject): Promise<Outcome> {
  const details: string[] = [];
  for (const noNewPrivileges of [true, false]) {
    const volume = subject.scratch("volume");
    const bundle = subject.bundle((config) => {
      withVolume(config, volume, "/mnt");
      config.process.noNewPrivileges = noNewPrivileges;
      config.process.args = ["true"];
      config.linux.seccomp = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO" }] };
      const attack = "grep Seccomp: /proc/self/status > /mnt/seen; mkdir /mnt/made; true";
      Object.assign(config, { hooks: { startContainer: [{ path: "/bin/sh", args: ["sh", "-c", attack] }] } });
    });
    const { status, stderr } = await subject.call(["run", "-b", bundle, subject.id()]);
    const seen = join(volume, "seen");
    if (status !== 0 || !existsSync(seen)) return held(`an error: ${stderr.trim()}`);
    details.push(`no_new_privs ${noNewPrivileges}: ${readFileSync(seen, "utf8").trim().replaceAll(/\s+/g, " ")}`);
    if (existsSync(join(volume, "made"))) details.push("made");
  }
  return heldIf(!details.includes("made"), details.join(", "));
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "unfiltered hook",
    title: "a program of the image that a startContainer hook executes makes a system call that the container's filter refuses",
    mechanism: "the child process that becomes the hook loads the filter of the program right before execve",
    defences: "hook-filter",
    run: unfilteredHook,
  },
];
