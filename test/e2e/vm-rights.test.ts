/** What the processes of a machine may do on the host: the table of docs/vm.md, as /proc shows it. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CAPABILITIES } from "../../src/shared/linux/index.ts";
import { useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";
import { machineMissing, programs, VM_TIMEOUT } from "../support/vm.ts";
import { member, sandbox } from "../support/vm-pod.ts";

const missing = machineMissing();

/** A line of the table. */
function rowOf(pid: string): string {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)![1]!;
  const users = new Set(field("Uid").split("\t"));
  const sets = ["CapInh", "CapPrm", "CapEff", "CapAmb"].reduce((all, set) => all | BigInt(`0x${field(set)}`), 0n);
  const capabilities = CAPABILITIES.filter((_, number) => sets & (1n << BigInt(number)))
    .toSorted()
    .join(", ");
  const part = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[1]!;
  const name = field("Name") === "runt" ? part : field("Name");
  const yes = (is: boolean) => (is ? "yes" : "no");
  return `| \`${name}\` | ${[...users].join()} | ${capabilities || "none"} | ${yes(field("NoNewPrivs") === "1")} | ${yes(field("Seccomp") === "2")} |`;
}

describe.skipIf(missing !== undefined)(`rights of a machine${missing ? ` (${missing})` : ""}`, { timeout: VM_TIMEOUT }, () => {
  const harness = useHarness();

  test("each process of a pod with a machine has the rights that docs/vm.md lists, and there is no other one", async () => {
    const pod = await sandbox(harness);
    await member(harness, pod);
    const namespace = readlinkSync(`/proc/${pod.pid}/ns/pid`);
    const rows = readdirSync("/proc").flatMap((name) => {
      try {
        return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/ns/pid`) === namespace ? [rowOf(name)] : [];
      } catch {
        // It has just ended.
        return [];
      }
    });
    const listed = readFileSync(join(REPOSITORY, "docs/vm.md"), "utf8").match(/^\| `(?:machine-|virtiofsd|qemu).*\| (?:yes|no) \|$/gm);
    expect(rows.toSorted()).toEqual(listed!.toSorted());
    const hypervisor = programs(pod).get("qemu-system-x86");
    expect(readFileSync(`/proc/${hypervisor}/status`, "utf8")).toMatch(/^CapBnd:\t0+$/m);
  });
});
