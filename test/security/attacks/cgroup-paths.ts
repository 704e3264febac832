/** Attacks by paths of cgroups. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cgroupDirectory, isUnified } from "../../conformance/cgroups.ts";
import { type Attack, escaped, held, heldIf, type Outcome } from "../attack.ts";
import { withUserNamespace } from "../inside.ts";
import type { Subject } from "../subject.ts";

const FILES = ["tasks", "cgroup.procs", "devices.deny", "devices.allow"];
/** Without them nothing is taken for a cgroup of v1. */
const CPUSET = ["cpuset.cpus", "cpuset.mems"];

/** A directory of the host that looks enough like a cgroup to be written to. */
function victimDirectory(subject: Subject): string {
  const victim = subject.scratch("host");
  for (const name of FILES) writeFileSync(join(victim, name), "");
  for (const name of CPUSET) writeFileSync(join(victim, name), "0");
  return victim;
}

function touchedIn(victim: string): readonly string[] {
  const written = FILES.filter((name) => readFileSync(join(victim, name), "utf8") !== "");
  const names = readdirSync(victim).filter((name) => ![...FILES, ...CPUSET].includes(name));
  return [...written, ...names];
}

function verdict(victim: string, detail: string): Outcome {
  const found = touchedIn(victim);
  return found.length > 0 ? escaped(`written: ${found.join(" ")}`) : held(detail);
}

const ROUNDS = 10;
const UP = "/..".repeat(12);

async function pathOfConfig(subject: Subject): Promise<Outcome> {
  const victim = victimDirectory(subject);
  const paths = [`${subject.cgroup}${UP}${victim}`, `${UP.slice(1)}${victim}`, `${subject.cgroup}/a/b${UP}${victim}`];
  const bundles = paths.map((cgroupsPath) =>
    subject.bundle((config) => {
      config.linux.cgroupsPath = cgroupsPath;
    }),
  );
  // The directory is no cgroup, so the start fails soon: at times before the first file is written.
  for (let round = 0; round < ROUNDS && touchedIn(victim).length === 0; round++)
    for (const bundle of bundles) await subject.call(["run", "-b", bundle, subject.id()]);
  return verdict(victim, `${paths.length} paths with ${UP.length / 3} levels up`);
}

async function pathOfExec(subject: Subject): Promise<Outcome> {
  const victim = victimDirectory(subject);
  const id = await subject.running();
  const paths = [`${UP.slice(1)}${victim}`, `a${UP}${victim}`, `cpu:${UP.slice(1)}${victim}`, "..", "../..", "/.."];
  for (const path of paths) {
    const { status, stdout } = await subject.call(["exec", "--cgroup", path, id, "cat", "/proc/self/cgroup"]);
    if (status === 0 && /:\/(\.\.|$)/m.test(stdout)) return escaped(`exec --cgroup ${path}: ${stdout.split("\n")[0]}`);
  }
  return verdict(victim, `${paths.length} paths`);
}

/** Without a cgroup namespace, root of a user namespace to whom the neighbouring cgroups are delegated: only its own are to be seen. */
async function hostCgroups(subject: Subject): Promise<Outcome> {
  if (isUnified()) return { skipped: "v2: in the guest (test/guest)" };
  const id = await subject.running((config) => {
    config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "cgroup");
    withUserNamespace(config);
    config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev"] });
  });
  const own = cgroupDirectory(await subject.pid(id), "memory");
  const neighbour = join(own, "../neighbour");
  mkdirSync(neighbour);
  subject.cleanup(() => rmdirSync(neighbour));
  const seen = await subject.call(["exec", id, "find", "/sys/fs/cgroup", "-maxdepth", "6", "-name", "neighbour"]);
  return heldIf(seen.stdout === "", seen.stdout.trim().split("\n").slice(0, 3).join(" ") || "the neighbour is not to be seen");
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "cgroupsPath with ..",
    title: "linux.cgroupsPath climbs out of the hierarchy, to a directory of the host with files of the right names",
    mechanism: "the path is resolved as text below every hierarchy, so .. cannot leave it",
    defences: "cgroup-path",
    run: pathOfConfig,
  },
  {
    id: "exec --cgroup with ..",
    title: "exec --cgroup climbs out of the container's cgroup, or out of the hierarchy",
    mechanism: ".. above the container's cgroup is an error",
    defences: "cgroup-path",
    run: pathOfExec,
  },
  {
    id: "CVE-2023-25809",
    title: "root of a user namespace, without a cgroup namespace, sees and writes cgroups of the host below /sys/fs/cgroup",
    mechanism: "the mount shows only the container's own cgroup, with or without a cgroup namespace",
    defences: "cgroup-view",
    run: hostCgroups,
  },
];
