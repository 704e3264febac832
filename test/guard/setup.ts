/** A place for counting: bin/runt, a bundle, an empty state directory, and a room without the host's mounts to run commands in. */
import { spawn } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { release, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sampleConfig } from "../support/config.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";
import type { Facts } from "./ceilings.ts";

const CGROUPS = "/sys/fs/cgroup";
/** The container lives until it is killed. */
const PROGRAM = ["/bin/sleep", "1000"];

/** Which cgroups the containers are made in: the host's own, or version 2 with what version 1 has left, which a host of version 1 can mount too. */
export type Cgroups = "host" | "bare v2";

const isUnified = existsSync(`${CGROUPS}/cgroup.controllers`);
/** A host of version 2 has controllers in every mount of its hierarchy. */
export const MEASURED: readonly Cgroups[] = isUnified ? ["host"] : ["host", "bare v2"];

export interface Setup {
  readonly work: string;
  readonly cgroups: Cgroups;
  /** Run in the room. Output goes to WORK/output, which is returned. */
  run(command: readonly string[]): Promise<string>;
  /** The same of a command that goes on: `ended` is its end. */
  begin(command: readonly string[]): { readonly ended: Promise<number> };
  readonly runt: readonly string[];
  remove(): void;
}

export function setUp(cgroups: Cgroups): Setup {
  // The length of its name is counted, too.
  const work = mkdtempSync(join(tmpdir(), "runt-guard-"));
  copyFileSync(join(REPOSITORY, "bin/runt"), join(work, "runt"));
  const shared = sharedRootfs();
  // What containers of other tests have left in its dev is not counted, and cpSync copies no device nodes.
  const filter = (path: string) => dirname(path) !== join(shared, "dev");
  cpSync(shared, join(work, "rootfs"), { recursive: true, verbatimSymlinks: true, filter });
  mkdirSync(join(work, "bundle"));
  mkdirSync(join(work, "state"));
  const config = sampleConfig("hello");
  config.process.args = PROGRAM;
  config.root.path = "/guard/rootfs";
  config.linux.cgroupsPath = `/runt-guard-${String(process.pid).padStart(8, "0")}/c`;
  writeFileSync(join(work, "bundle/config.json"), JSON.stringify(config));
  mkdirSync(join(work, "short"));
  const short = { ...config, process: { ...config.process, args: ["/bin/true"] } };
  writeFileSync(join(work, "short/config.json"), JSON.stringify(short));
  writeFileSync(join(work, "depth.json"), JSON.stringify({ unified: { "cgroup.max.depth": "10" } }));
  const script = join(REPOSITORY, "test/guard/room.sh");
  const room = ["-m", "--propagation", "private", script, cgroups, work, join(REPOSITORY, "build/runt-init")];
  const output = join(work, "output");

  function begin(command: readonly string[]) {
    const fd = openSync(output, "w");
    const child = spawn("unshare", [...room, ...command], { stdio: ["ignore", fd, fd] });
    closeSync(fd);
    return { ended: new Promise<number>((done, failed) => child.on("error", failed).on("exit", (code) => done(code ?? 255))) };
  }

  return {
    work,
    cgroups,
    runt: ["/guard/runt", "--root", "/guard/state"],
    begin,
    async run(command) {
      const status = await begin(command).ended;
      const text = readFileSync(output, "utf8");
      if (status !== 0) throw new Error(`${command.join(" ")}: status ${status}: ${text}`);
      return text;
    },
    remove: () => rmSync(work, { recursive: true, force: true }),
  };
}

/** Properties of the host on which the counts depend. */
export function hostFacts(cgroups: Cgroups): Facts {
  const [major, minor] = release().split(".");
  return {
    architecture: process.arch,
    kernel: `${major}.${minor}`,
    cgroups: cgroups === "host" ? cgroupsOfHost() : ["bare v2", ...controllersOfV2()].join(" "),
    systemd: existsSync("/run/systemd/system") ? "yes" : "no",
    apparmor: existsSync("/sys/kernel/security/apparmor") ? "yes" : "no",
    compiler: compiler(),
  };
}

/** What no tree of v2 has, or has without a word in cgroup.controllers. */
const NOT_LISTED = ["cpuacct", "devices", "freezer", "net_cls", "net_prio", "perf_event"];

/**
 * The controllers that no hierarchy of v1 has taken: a tree of v2 has them, and create hands them down from level to level. hugetlb is one of them until
 * somebody mounts it, and for as long as such a mount has not quite gone.
 */
function controllersOfV2(): string[] {
  const rows = [...readFileSync("/proc/cgroups", "utf8").matchAll(/^(\w+)\t(\d+)\t\d+\t(\d+)$/gm)];
  return rows.flatMap(([, name = "", hierarchy, enabled]) =>
    hierarchy === "0" && enabled === "1" && !NOT_LISTED.includes(name) ? [name] : [],
  );
}

function cgroupsOfHost(): string {
  if (isUnified) return "v2";
  const mounts = readFileSync("/proc/self/mountinfo", "utf8");
  const usual = ["systemd", "cpu", "cpuacct", "cpu,cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids"];
  return `v1 ${usual.filter((name) => mounts.includes(` ${CGROUPS}/${name} `)).join(" ")}`;
}

/** Major version: others make other code. */
function compiler(): string {
  const text = readFileSync(join(REPOSITORY, "build/runt.map"), "latin1");
  return /\/gcc\/[^/]+\/(\d+)\//.exec(text)?.[1] ?? "unknown";
}
