/** Attacks with capabilities that a process should not have. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import { program } from "../../support/programs.ts";
import { type Attack, escaped, held, heldIf } from "../attack.ts";
import { withProgram } from "../inside.ts";
import type { Subject } from "../subject.ts";

/** A set of /proc/PID/status ("Inh", "Prm", "Eff", "Bnd", "Amb") as a number. */
function capabilitySet(status: string, set: string): bigint {
  const hex = new RegExp(`^Cap${set}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1];
  if (hex === undefined) throw new Error(`no Cap${set} in ${JSON.stringify(status)}`);
  return BigInt(`0x${hex}`);
}

/** A bundle with the configuration that the runtime's own `spec` writes. */
export async function defaultBundle(subject: Subject, change: (config: Config) => void): Promise<string> {
  const path = subject.scratch("spec");
  await subject.ok(["spec"], { cwd: path });
  const file = join(path, "config.json");
  const config: Config = JSON.parse(readFileSync(file, "utf8"));
  config.root.path = subject.sharedRootfs;
  config.process.terminal = false;
  change(config);
  config.linux.cgroupsPath = `${subject.cgroup}/spec`;
  writeFileSync(file, JSON.stringify(config));
  return path;
}

async function openByHandle(subject: Subject) {
  const victim = join(subject.scratch("host"), "secret");
  writeFileSync(victim, "of the host");
  const handle = execFileSync(program("handle"), ["of", victim], { encoding: "utf8" }).trim().split(" ");
  const bundle = await defaultBundle(subject, (config) => {
    withProgram(config, "handle");
    config.process.args = ["/dev/handle", "open", ...handle];
  });
  const { stdout, stderr } = await subject.call(["run", "-b", bundle, subject.id()]);
  return stdout.includes("of the host") ? escaped("read a file of the host") : held(stderr.trim());
}

async function inheritedByExec(subject: Subject) {
  const id = await subject.running();
  const status = await subject.ok(["exec", "--cap", "CAP_NET_RAW", "--cap", "CAP_KILL", id, "cat", "/proc/self/status"]);
  const inheritable = capabilitySet(status, "Inh");
  return heldIf(inheritable === 0n, `CapInh ${inheritable.toString(16)}`);
}

async function ambientForUser(subject: Subject) {
  const bundle = subject.bundle((config) => {
    config.process.user = { uid: 1000, gid: 1000 };
    config.process.capabilities["inheritable"] = [...config.process.capabilities["permitted"]!];
    config.process.args = ["cat", "/proc/self/status"];
  });
  const status = await subject.ok(["run", "-b", bundle, subject.id()]);
  const effective = capabilitySet(status, "Eff");
  return heldIf(effective === 0n, `CapEff ${effective.toString(16)}, CapInh ${capabilitySet(status, "Inh").toString(16)}`);
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "2014 shocker",
    title: "a container of the default configuration opens a file of the host by its handle (open_by_handle_at)",
    mechanism: "a container keeps exactly the capabilities of its configuration, and `spec` writes three harmless ones",
    defences: "capabilities",
    run: openByHandle,
  },
  {
    id: "CVE-2016-8867",
    title: "a user other than root gets the capabilities of the container's sets with any program",
    mechanism: "the ambient set is that of the configuration, and empty without one",
    defences: "ambient",
    run: ambientForUser,
  },
  {
    id: "CVE-2022-29162, CVE-2022-27650",
    title: "exec --cap leaves capabilities in the inheritable set, and programs with file capabilities get them",
    mechanism:
      "--cap adds to the bounding, effective and permitted sets; the inheritable set has only the capabilities of the configuration",
    defences: "inheritable",
    run: inheritedByExec,
  },
];
