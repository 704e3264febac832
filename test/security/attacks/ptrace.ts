/** Attacks on the process that joins a container, from inside it, before it has become the program. */
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TEMPLATE } from "../../../src/shared/protocol/index.ts";
import type { Config } from "../../support/config.ts";
import { type Attack, held, heldIf, type Outcome } from "../attack.ts";
import { addCapabilities, withProgram, withUserNamespace } from "../inside.ts";
import { eventually, type Subject, textOf } from "../subject.ts";

/** Everything that runs in the containers here. */
const NAMES = "sh,sleep,spy,true,cat";

/** A container in which root looks at everything; what it finds is in the file. */
async function withSpy(
  subject: Subject,
  words: readonly string[],
  change: (config: Config) => void,
): Promise<{ id: string; found: string }> {
  const id = await subject.running((config) => {
    withProgram(config, "spy");
    change(config);
  });
  const found = join(subject.scratch("spy"), "found");
  subject.start(["exec", "-d", id, "/dev/spy", "--names", NAMES, ...words], { output: found });
  await eventually(() => textOf(found).includes("ready"), "the spy looks");
  return { id, found };
}

/** What was found, without the first line. */
function findings(file: string): string[] {
  return [...new Set(textOf(file).replace("ready\n", "").split("\n").filter(Boolean))];
}

/** exec over and over until something is found. */
async function execUntilFound(subject: Subject, id: string, found: string): Promise<Outcome> {
  const rounds = subject.execRounds;
  for (let round = 1; round <= rounds; round++) {
    await subject.call(["exec", id, "true"]);
    const lines = findings(found);
    if (lines.length > 0) return heldIf(false, `round ${round}: ${lines.slice(0, 4).join("; ")}`);
  }
  return held(`${rounds} rounds of exec, nothing seen`);
}

const spyRights = (config: Config) => {
  withUserNamespace(config);
  addCapabilities(config, "CAP_SYS_PTRACE", "CAP_KILL", "CAP_DAC_READ_SEARCH");
};

async function lookDuringExec(subject: Subject): Promise<Outcome> {
  const { id, found } = await withSpy(subject, [], spyRights);
  return execUntilFound(subject, id, found);
}

/** The second container joins the namespaces of the first, where root watches. */
async function lookDuringCreate(subject: Subject): Promise<Outcome> {
  const { id, found } = await withSpy(subject, [], spyRights);
  const pid = await subject.pid(id);
  const bundle = subject.bundle((config) => {
    config.process.args = ["true"];
    delete config.hostname;
    config.mounts = config.mounts.filter(({ type }) => type !== "sysfs");
    config.linux.namespaces = [{ type: "mount" }, ...["pid", "user", "ipc"].map((type) => ({ type, path: `/proc/${pid}/ns/${type}` }))];
  });
  const rounds = subject.execRounds;
  for (let round = 1; round <= rounds; round++) {
    const { status } = await subject.call(["run", "-b", bundle, subject.id()]);
    const lines = findings(found);
    if (lines.length > 0) return heldIf(false, `round ${round}: ${lines.slice(0, 4).join("; ")}`);
    if (status !== 0) return { skipped: "joins no user namespace of another container without id maps of its own" };
  }
  return held(`${rounds} rounds of run, nothing seen`);
}

/** As often as that, because each one waits a while. */
const PARKED_ROUNDS = 100;
const PARKED_MS = 20;

/** A container that waits for its process joins the namespaces of the first, where root watches: while it waits, and while it takes its process. */
async function lookWhileParked(subject: Subject): Promise<Outcome> {
  if (!subject.isRunt) return { skipped: "has no containers that are given their process at start" };
  const { id, found } = await withSpy(subject, [], spyRights);
  const pid = await subject.pid(id);
  const bundle = subject.bundle((config) => {
    config.process.args = ["true"];
    config.annotations = { [TEMPLATE]: "true" };
    delete config.hostname;
    config.mounts = config.mounts.filter(({ type }) => type !== "sysfs");
    config.linux.namespaces = [{ type: "mount" }, ...["pid", "user", "ipc"].map((type) => ({ type, path: `/proc/${pid}/ns/${type}` }))];
  });
  const given = join(bundle, "process.json");
  writeFileSync(given, JSON.stringify({ args: ["cat", "/dev/null"], cwd: "/", env: ["PATH=/bin", "SECRET=of-one-caller"] }));
  const rounds = Math.min(subject.rounds, PARKED_ROUNDS);
  for (let round = 1; round <= rounds; round++) {
    const parked = subject.id();
    await subject.ok(["create", "-b", bundle, parked]);
    await sleep(PARKED_MS);
    await subject.ok(["start", "--process", given, parked]);
    await subject.call(["delete", "--force", parked]);
    const lines = findings(found);
    if (lines.length > 0) return heldIf(false, `round ${round}: ${lines.slice(0, 4).join("; ")}`);
  }
  return held(`${rounds} claims, nothing seen`);
}

/** A signal that dumps core, and a limit that lets it: the memory of the joining process would be a file in the container. */
async function coreDump(subject: Subject): Promise<Outcome> {
  if (textOf("/proc/sys/kernel/core_pattern").trim() !== "core")
    return { skipped: "kernel.core_pattern of this host is not a file's name" };
  const rootfs = subject.rootfs();
  chmodSync(rootfs, 0o777);
  const { id, found } = await withSpy(subject, ["--signal", "11"], (config) => {
    spyRights(config);
    config.root = { path: rootfs, readonly: false };
    config.process.rlimits.push({ type: "RLIMIT_CORE", soft: 1 << 30, hard: 1 << 30 });
  });
  const rounds = subject.execRounds;
  for (let round = 1; round <= rounds; round++) {
    await subject.call(["exec", id, "true"], { through: ["prlimit", "--core=unlimited"] });
    const cores = readdirSync(rootfs).filter((name) => name.startsWith("core"));
    // The signal may come when the program is there already, whose core is its own.
    const names = cores.map((name) => nameInCore(readFileSync(join(rootfs, name)))).filter((name) => name !== "true");
    if (names.length > 0) return heldIf(false, `round ${round}: core of ${names.join(" ")}`);
    for (const name of cores) rmSync(join(rootfs, name));
  }
  return heldIf(findings(found).length > 0, `${rounds} rounds, no core`);
}

/** core(5), elf(5): pr_fname of the note NT_PRPSINFO, the name of the process as the kernel knew it. */
function nameInCore(core: Buffer): string {
  const [PT_NOTE, NT_PRPSINFO, NAME, NAME_SIZE] = [4, 3, 40, 16];
  if (core.length < 64) return "(no ELF file)";
  for (let index = 0; index < core.readUInt16LE(56); index++) {
    const header = Number(core.readBigUInt64LE(32)) + index * core.readUInt16LE(54);
    if (core.readUInt32LE(header) !== PT_NOTE) continue;
    const begin = Number(core.readBigUInt64LE(header + 8));
    const end = begin + Number(core.readBigUInt64LE(header + 32));
    for (let at = begin; at + 12 <= end; ) {
      const [nameSize, size, type] = [core.readUInt32LE(at), core.readUInt32LE(at + 4), core.readUInt32LE(at + 8)];
      const content = at + 12 + ((nameSize + 3) & ~3);
      if (type === NT_PRPSINFO) return core.toString("latin1", content + NAME, content + NAME + NAME_SIZE).replace(/\0.*$/s, "");
      at = content + ((size + 3) & ~3);
    }
  }
  return "(without a name)";
}

/** Killed in the middle of joining: exec has to end with an error. */
async function killJoining(subject: Subject): Promise<Outcome> {
  const { id, found } = await withSpy(subject, ["--signal", "9"], (config) => addCapabilities(config, "CAP_KILL"));
  const rounds = subject.execRounds;
  let killed = 0;
  for (let round = 1; round <= rounds; round++) {
    const { status, stderr } = await subject.call(["exec", id, "true"], { through: ["timeout", "-s", "KILL", "30"] });
    if (status === 137 && stderr === "" && !findings(found).includes("signal")) return heldIf(false, `round ${round}: exec hangs`);
    if (status !== 0) killed++;
  }
  const { stdout } = await subject.call(["state", id]);
  return heldIf(stdout.includes('"running"'), `${rounds} rounds, ${killed} exec ended with an error, the container is untouched`);
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2016-9962",
    title: "root in the container, with CAP_SYS_PTRACE, reads descriptors and memory of the process of exec, or traces it",
    mechanism:
      "the helper is not dumpable before it joins the first namespace and until execve; it sets this again after every change of ids",
    defences: "dumpable",
    run: lookDuringExec,
  },
  {
    id: "CVE-2016-9962 (create)",
    title: "the same on the init of a second container that joins the PID and user namespaces of the first",
    mechanism: "init is not dumpable as soon as its id maps are written, or at once without id maps",
    defences: "dumpable",
    run: lookDuringCreate,
  },
  {
    id: "CVE-2016-9962 (template)",
    title: "the same on an init that waits for its process, for as long as it waits and while it takes the process of a caller",
    mechanism: "a waiting init is not dumpable; it takes its process with the memory of the host's helper, until execve",
    defences: "dumpable",
    run: lookWhileParked,
  },
  {
    id: "core dump of the helper",
    title: "the joining process is killed by SIGSEGV without a limit on core files: its memory becomes a file in the container",
    mechanism: "a process that is not dumpable leaves no core",
    defences: "dumpable",
    run: coreDump,
  },
  {
    id: "killed while joining",
    title: "every process of exec is killed at once: exec hangs, or leaves something behind",
    mechanism: "the end of the rendezvous socket is an error like every other",
    why: "only the kernel's end of file tells; there is no step to leave out",
    run: killJoining,
  },
];
