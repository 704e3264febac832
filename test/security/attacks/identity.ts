/** Attacks on what a process is: its environment, signals, privileges, and who it dies with. */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { program } from "../../support/programs.ts";
import { type Attack, escaped, held, heldIf, type Outcome } from "../attack.ts";
import { addCapabilities, withProgram, withUserNamespace, withVolume } from "../inside.ts";
import { eventually, type Subject, textOf } from "../subject.ts";

const SECRET = "secret-of-the-caller";
const WITH_SECRET = { env: { RUNT_TEST_TOKEN: SECRET, LD_PRELOAD: "", LISTEN_FDS: "1" } } as const;

async function environment(subject: Subject): Promise<Outcome> {
  const bundle = subject.bundle((config) => {
    config.process.args = ["env"];
  });
  const id = await subject.running(undefined, undefined, WITH_SECRET);
  const first = await subject.call(["run", "-b", bundle, subject.id()], WITH_SECRET);
  const second = await subject.call(["exec", id, "env"], WITH_SECRET);
  const third = await subject.call(["exec", id, "sh", "-c", "tr '\\0' '\\n' < /proc/1/environ"]);
  const leaks = [first, second, third].map(({ stdout }) => stdout).join("\n");
  const names = first.stdout
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0]);
  return heldIf(!leaks.includes(SECRET), names.length > 8 ? `${names.length} variables, the secret among them` : names.join(" "));
}

/** An init that waits for start, in the PID namespace of a container whose root may look at every process. */
async function waitingEnvironment(subject: Subject): Promise<Outcome> {
  const id = await subject.running((config) => addCapabilities(config, "CAP_SYS_PTRACE"));
  const pid = await subject.pid(id);
  const waiting = subject.id();
  const bundle = subject.bundle((config) => {
    config.linux.namespaces = config.linux.namespaces.map((one) =>
      one.type === "pid" ? { type: "pid", path: `/proc/${pid}/ns/pid` } : one,
    );
  });
  await subject.ok(["create", "-b", bundle, waiting], WITH_SECRET);
  const all = await subject.ok(["exec", id, "sh", "-c", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'"]);
  const seen = all.includes(SECRET);
  return heldIf(!seen, seen ? "the caller's environment is there to read" : "nothing of the caller's");
}

/** A program of the image with the set-user-ID bit, run by somebody who may not gain privileges. */
async function setUserId(subject: Subject): Promise<Outcome> {
  const rootfs = subject.rootfs((path) => {
    cpSync(program("user"), join(path, "bin/user"));
    chmodSync(join(path, "bin/user"), 0o4755);
  });
  const id = await subject.running((config) => {
    config.root.path = rootfs;
    config.process.user = { uid: 1000, gid: 1000 };
  });
  const bundle = subject.bundle((config) => {
    config.root.path = rootfs;
    config.process.user = { uid: 1000, gid: 1000 };
    config.process.args = ["user"];
  });
  const first = await subject.ok(["run", "-b", bundle, subject.id()]);
  const second = await subject.ok(["exec", "--user", "1000:1000", id, "user"]);
  return heldIf(!`${first}${second}`.includes("effective 0"), `run: ${first.trim()}; exec: ${second.trim()}`);
}

/** Processes whose root or command belongs to the attack, by their command. */
function processesOf(directory: string): string[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return [];
    const environ = textOf(`/proc/${pid}/cgroup`);
    const command = textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
    return environ.includes(directory) || command.includes(directory) ? [`${pid} ${command}`] : [];
  });
}

/** SIGKILL of the runtime while init runs a hook that does not end: init must not live on. */
async function parentDeath(subject: Subject): Promise<Outcome> {
  const marker = subject.scratch("marker");
  const cgroup = `${subject.cgroup}/death`;
  const bundle = subject.bundle((config) => {
    config.linux.cgroupsPath = cgroup;
    Object.assign(config, {
      hooks: { createContainer: [{ path: "/bin/sh", args: ["sh", "-c", `: > ${marker}/hook; exec sleep 1000`] }] },
    });
  });
  const child = subject.start(["create", "-b", bundle, subject.id()]);
  await eventually(() => existsSync(join(marker, "hook")), "the hook runs");
  child.kill("SIGKILL");
  const deadline = Date.now() + 10_000;
  let left = processesOf(cgroup);
  while (left.length > 0 && Date.now() < deadline) {
    await sleep(20);
    left = processesOf(cgroup);
  }
  return left.length === 0 ? held("init and its hook are gone") : escaped(`alive without a runtime: ${left.join("; ")}`);
}

/** The caller ignores and blocks signals, as supervisors do: a container could then not be stopped, or would lose its children's ends. */
async function inheritedSignals(subject: Subject): Promise<Outcome> {
  const ignoring = [
    "python3",
    "-c",
    `import os, signal, sys
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD, signal.SIGPIPE): signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGHUP])
os.execv(sys.argv[1], sys.argv[1:])`,
  ];
  const bundle = subject.bundle((config) => {
    config.process.args = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"];
  });
  const { stdout } = await subject.call(["run", "-b", bundle, subject.id()], { through: ignoring });
  const id = await subject.running();
  const second = await subject.call(["exec", id, "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"], { through: ignoring });
  const sets = [...`${stdout}${second.stdout}`.matchAll(/^Sig(\w+):\s*(\w+)$/gm)].map(([, set, mask]) => `${set} ${mask}`);
  if (sets.length !== 4) return held(`an error: ${second.stderr.trim()}`);
  return heldIf(
    sets.every((set) => / 0+$/.test(set)),
    sets.join(", "),
  );
}

/** With a user namespace: who owns /proc/PID of an init that waits says whether its own user may look into it. */
async function ownerOfWaiting(subject: Subject): Promise<Outcome> {
  const id = subject.id();
  const bundle = subject.bundle(withUserNamespace);
  await subject.ok(["create", "-b", bundle, id]);
  const pid = await subject.pid(id);
  const uid = execFileSync("stat", ["-c", "%u", `/proc/${pid}/environ`], { encoding: "utf8" }).trim();
  return heldIf(uid === "0", `/proc/PID of the waiting init belongs to the host's uid ${uid}`);
}

const FORGED = [
  "MAINPID=1\nREADY=1",
  "FDSTORE=1",
  "STOPPING=1",
  "WATCHDOG=trigger",
  "EXTEND_TIMEOUT_USEC=1",
  "STATUS=all is well\nERRNO=1",
  "READY=1x",
];

/** What the program says to $NOTIFY_SOCKET, and what of it the host's service manager hears. */
async function forgedNotifications(subject: Subject): Promise<Outcome> {
  const directory = subject.scratch("notify");
  const heard = join(directory, "heard");
  const socket = join(directory, "socket");
  const listener = subject.startProgram([program("notify"), "--listen", socket], heard);
  await eventually(() => textOf(heard).includes("listening"), "the manager listens");
  const bundle = subject.bundle((config) => {
    withProgram(config, "notify");
    config.process.args = ["/dev/notify", ...FORGED, "READY=1"];
  });
  await subject.call(["run", "-b", bundle, subject.id()], { env: { NOTIFY_SOCKET: socket } });
  // The first message, or what is left of it, comes in any case.
  await eventually(() => textOf(heard).includes("READY=1"), "the manager hears it");
  await sleep(100);
  listener.kill("SIGKILL");
  const lines = readFileSync(heard, "utf8")
    .split("\n")
    .filter((line) => line !== "" && line !== "listening");
  const forged = lines.filter((line) => /FDSTORE|STOPPING|WATCHDOG|EXTEND|STATUS|MAINPID=1\\n|READY=1x/.test(line));
  return forged.length > 0 ? escaped(`the host heard ${forged.join("; ")}`) : held(`the host heard ${lines.join("; ") || "nothing"}`);
}

/** The container's init has changed its root and mounted over everything: exec must still end up in the container. */
async function changedRoot(subject: Subject): Promise<Outcome> {
  const outside = subject.scratch("host");
  const fake = subject.scratch("fake");
  const id = await subject.running((config) => {
    withUserNamespace(config);
    addCapabilities(config, "CAP_SYS_ADMIN", "CAP_SYS_CHROOT");
    withVolume(config, fake, "/dev/fake");
    config.process.args = [
      "/bin/sh",
      "-c",
      "mount -t tmpfs none /proc; mkdir -p /proc/self/fd /proc/self/attr; mount -t tmpfs none /dev/shm; mount -o bind /dev/shm /tmp; cd /dev/shm; mkdir new; " +
        "mount -o rbind / new; exec chroot new /bin/sh -c 'sleep 1000'",
    ];
  });
  await sleep(100);
  const { status, stdout, stderr } = await subject.call(["exec", id, "sh", "-c", `ls -d ${outside} /dev/fake; pwd`]);
  return heldIf(!stdout.includes(outside), status === 0 ? stdout.trim().split("\n").join(" ") : stderr.trim().split("\n")[0]!);
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "environment of the caller",
    title: "variables of the caller of runt (tokens, LD_PRELOAD, LISTEN_FDS) reach the program",
    mechanism: "the program's environment is that of the configuration, and HOME",
    defences: "environment,helper-environment",
    run: environment,
  },
  {
    id: "environment of the caller (waiting init)",
    title: "root inside, with CAP_SYS_PTRACE, reads the caller's variables from /proc/PID/environ of an init that waits for start",
    mechanism: "the helper is started without an environment",
    defences: "helper-environment",
    run: waitingEnvironment,
  },
  {
    id: "no_new_privs",
    title: "a set-user-ID program of the image makes a user root",
    mechanism: "no_new_privs is set before labels, capabilities and filters, and holds for every later process",
    defences: "no-new-privileges",
    run: setUserId,
  },
  {
    id: "death of the runtime",
    title: "the runtime is killed while init works: a half-made container goes on, with rights that it should have lost",
    mechanism: "init has a parent-death signal until its record is committed, renewed whenever the kernel clears it",
    defences: "death-signal",
    run: parentDeath,
  },
  {
    id: "inherited signals",
    title: "the caller ignores or blocks signals: the program cannot be stopped, or gets no signal when a child process ends",
    mechanism: "every signal gets its default action, and none is blocked, right before execve",
    defences: "signals",
    run: inheritedSignals,
  },
  {
    id: "owner of the waiting init",
    title: "with a user namespace, /proc/PID of an init that waits for start belongs to a user of the container",
    mechanism: "init is not dumpable, so it belongs to root of the host",
    defences: "dumpable",
    run: ownerOfWaiting,
  },
  {
    id: "forged notifications",
    title: "the program tells the host's service manager to watch another process, keep descriptors, or that it is stopping",
    mechanism: "the helper accepts only READY=1, and sends its own message",
    defences: "notify-filter",
    run: forgedNotifications,
  },
  {
    id: "changed root",
    title: "init has changed its root, covered /proc and /dev and bound the root over itself, so that exec enters another root",
    mechanism: "exec enters the mount namespace, whose root the kernel knows; it does not use init's view",
    why: "setns(2) itself sets the root",
    run: changedRoot,
  },
];
