/** Attacks with what runt reads on the host: config.json, the state directory, ids, paths that the caller names. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, escaped, held, heldIf, type Outcome } from "../attack.ts";
import { type Subject, textOf } from "../subject.ts";

/** For what must end by itself, also where others have the processors: status 137 after half a minute. */
const LIMITED = { through: ["timeout", "-s", "KILL", "30"] } as const;
const HANGS = 137;

const CONFIGS: Readonly<Record<string, (path: string, subject: Subject) => unknown>> = {
  "a FIFO": (path) => execFileSync("mkfifo", [path]),
  "a directory": (path) => mkdirSync(path),
  "a device that never ends": (path) => execFileSync("mknod", [path, "c", "1", "5"]),
  "a terminal": (path) => execFileSync("mknod", [path, "c", "5", "2"]),
  "a socket": (path) => execFileSync("python3", ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path]),
  "a link to itself": (path) => symlinkSync("config.json", path),
  "a terabyte": (path) => {
    writeFileSync(path, "{");
    truncateSync(path, 2 ** 40);
  },
  "a file that grows": (path, subject) => {
    writeFileSync(path, `{"ociVersion": "1.0.2", "x": "`);
    const child = spawn("sh", ["-c", `while :; do head -c 100000 /dev/zero | tr '\\0' a >> "$1"; done`, "sh", path], { stdio: "ignore" });
    subject.cleanup(() => child.kill("SIGKILL"));
  },
  "lists in lists": (path) => writeFileSync(path, "[".repeat(1_000_000)),
  "a number without end": (path) => writeFileSync(path, `{"ociVersion": ${"9".repeat(1_000_000)}}`),
};

async function hostileConfig(subject: Subject): Promise<Outcome> {
  for (const [kind, make] of Object.entries(CONFIGS)) {
    const bundle = subject.scratch("bundle");
    make(join(bundle, "config.json"), subject);
    const { status, stderr } = await subject.call(["run", "-b", bundle, subject.id()], LIMITED);
    if (status === HANGS) return escaped(`${kind}: hangs`);
    if (status === 0 || stderr === "") return escaped(`${kind}: status ${status}, ${JSON.stringify(stderr)}`);
    if (/panic|internal error|goroutine/.test(stderr)) return escaped(`${kind}: ${stderr.split("\n")[0]}`);
  }
  return held(`${Object.keys(CONFIGS).length} kinds: an error at once`);
}

const IDS = [
  "..",
  ".",
  "../victim",
  "../../victim",
  "victim/../../../victim",
  "../../victim",
  "a/b",
  "/",
  "",
  "a\nb",
  "a b",
  "@cache",
  "x".repeat(5000),
  "é",
  "a;b",
  "--",
  "\u2024\u2024",
];

async function hostileIds(subject: Subject): Promise<Outcome> {
  const outside = subject.scratch("host");
  subject.root = join(outside, "run/state");
  mkdirSync(subject.root, { recursive: true });
  const victim = join(outside, "victim");
  mkdirSync(victim);
  const precious = join(victim, "precious");
  writeFileSync(precious, "of the host");
  const bundle = subject.bundle();
  for (const id of IDS) {
    for (const args of [
      ["delete", "--force", id],
      ["create", "-b", bundle, id],
      ["delete", "--force", id],
    ]) {
      const { status } = await subject.call(args, LIMITED);
      if (status === HANGS) return escaped(`${args[0]} ${JSON.stringify(id)}: hangs`);
      if (args[0] === "create" && status === 0) subject.cleanup(() => subject.call(["delete", "--force", id]));
      if (!existsSync(precious)) return escaped(`${args.join(" ")}: a file outside of the state directory is gone`);
    }
    for (const [directory, names] of [
      [outside, "run,victim"],
      [join(outside, "run"), "state"],
      [victim, "precious"],
    ] as const) {
      const found = existsSync(directory) ? readdirSync(directory).join() : "nothing";
      if (found !== names) return escaped(`id ${JSON.stringify(id)}: ${directory.slice(outside.length) || "/"} holds ${found}`);
    }
  }
  return held(`${IDS.length} ids, create and delete --force`);
}

const RECORDS: Readonly<Record<string, (path: string, victim: string) => unknown>> = {
  "a FIFO": (path) => execFileSync("mkfifo", [path]),
  "a directory": (path) => mkdirSync(path),
  "a device that never ends": (path) => execFileSync("mknod", [path, "c", "1", "5"]),
  "a link to itself": (path) => symlinkSync("state.json", path),
  "a link to a file of the host": (path, victim) => symlinkSync(victim, path),
  "a terabyte": (path) => {
    writeFileSync(path, "{");
    truncateSync(path, 2 ** 40);
  },
  empty: (path) => writeFileSync(path, ""),
  "not a record": (path) => writeFileSync(path, "[[[]]]"),
};

/** Every verb ends at once, and delete --force clears up without leaving the container's directory. */
async function hostileState(subject: Subject): Promise<Outcome> {
  mkdirSync(subject.root, { recursive: true });
  const victim = join(subject.scratch("host"), "precious");
  writeFileSync(victim, '{"precious": true}');
  for (const [kind, make] of Object.entries(RECORDS)) {
    const directory = join(subject.root, "broken");
    mkdirSync(directory);
    make(join(directory, "state.json"), victim);
    for (const args of [
      ["state", "broken"],
      ["list"],
      ["kill", "broken", "KILL"],
      ["exec", "broken", "true"],
      ["delete", "--force", "broken"],
    ]) {
      const { status } = await subject.call(args, LIMITED);
      if (status === HANGS) return escaped(`state.json is ${kind}: ${args[0]} hangs`);
    }
    if (textOf(victim) !== '{"precious": true}') return escaped(`state.json is ${kind}: the file that it leads to is changed`);
    rmSync(directory, { recursive: true, force: true });
  }
  return held(`${Object.keys(RECORDS).length} kinds, five verbs`);
}

/** In a directory where others may write, links wait under the names that a pid file gets. */
async function linksForPidFile(subject: Subject): Promise<Outcome> {
  const victim = join(subject.scratch("host"), "precious");
  const shared = subject.scratch("shared");
  const last = Number(readFileSync("/proc/loadavg", "utf8").trim().split(" ").at(-1));
  const likely = Array.from({ length: 2_000 }, (_, i) => `pid.${last + i}`);
  for (const name of ["pid", ".pid", "pid.tmp", "pid.new", ...likely]) symlinkSync(victim, join(shared, name));
  writeFileSync(victim, "of the host");
  const { status } = await subject.call(["run", "-d", "--pid-file", join(shared, "pid"), "-b", subject.bundle(), subject.id()]);
  const text = textOf(victim);
  return heldIf(text === "of the host", text === "of the host" ? `status ${status}, the file is unchanged` : `the file now holds ${text}`);
}

/** `process.args[0]` and PATH: nothing hangs, and what is not a program of the container is an error. */
async function hostilePrograms(subject: Subject): Promise<Outcome> {
  const rootfs = subject.rootfs((path) => {
    mkdirSync(join(path, "bin/folder"));
    execFileSync("mkfifo", [join(path, "bin/fifo")]);
    execFileSync("mknod", [join(path, "bin/device"), "c", "1", "5"]);
    symlinkSync("loop", join(path, "bin/loop"));
    writeFileSync(join(path, "bin/empty"), "", { mode: 0o755 });
    writeFileSync(join(path, "bin/endless"), "#!/bin/endless\n", { mode: 0o755 });
  });
  const outside = subject.scratch("host");
  writeFileSync(join(outside, "tool"), "#!/bin/sh\necho of the host\n", { mode: 0o755 });
  const paths = [
    `PATH=${outside}`,
    "PATH=",
    "PATH=:",
    "PATH=bin:../bin",
    `PATH=../../../../../..${outside}`,
    "PATH=/bin/fifo:/bin/device:/bin",
    "PATH=/bin/loop",
  ];
  const programs = [
    "folder",
    "fifo",
    "device",
    "loop",
    "empty",
    "endless",
    "tool",
    "",
    ".",
    "..",
    "/",
    "/bin/fifo",
    "/bin/folder",
    `${outside}/tool`,
  ];
  for (const [index, name] of [...programs, ...paths.slice(1).map(() => "tool")].entries()) {
    const bundle = subject.bundle((config) => {
      config.root.path = rootfs;
      config.process.args = [name];
      config.process.env = [index < programs.length ? "PATH=/bin" : paths[index - programs.length + 1]!];
    });
    const { status, stdout } = await subject.call(["run", "-b", bundle, subject.id()], LIMITED);
    if (status === HANGS) return escaped(`program ${JSON.stringify(name)}: hangs`);
    if (stdout.includes("of the host")) return escaped(`program ${JSON.stringify(name)} is the host's`);
  }
  return held(`${programs.length + paths.length - 1} programs and search paths`);
}

/** The state root is a link that somebody else has made, or lies below one. */
async function stateRootOfOther(subject: Subject): Promise<Outcome> {
  const other = subject.scratch("other");
  execFileSync("chown", ["1000:1000", other]);
  symlinkSync(other, subject.root);
  execFileSync("chown", ["-h", "1000:1000", subject.root]);
  const id = subject.id();
  const { status, stderr } = await subject.call(["run", "-d", "-b", subject.bundle(), id]);
  const readable = readdirSync(other);
  return heldIf(status !== 0 && readable.length === 0, status === 0 ? `records are written where uid 1000 may change them` : stderr.trim());
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "hostile config.json",
    title:
      "config.json is a FIFO, a device, a directory, a link to itself, a terabyte, grows while it is read, or is nested a million deep",
    mechanism: "runt reads only a regular file, opened without waiting, up to 64 MiB; the parser limits the depth",
    defences: "config-type",
    run: hostileConfig,
  },
  {
    id: "hostile container ids",
    title: 'ids with "..", slashes, newlines: create makes, or delete --force removes, a directory outside of the state directory',
    mechanism: "an id is one path component of letters, digits and _+-.",
    defences: "container-id",
    run: hostileIds,
  },
  {
    id: "hostile state record",
    title: "state.json is a FIFO, a device, a link, a terabyte or invalid: verbs hang, or delete --force follows it",
    mechanism: "the same rules as for config.json; entries are unlinked, and links are never followed",
    defences: "config-type",
    run: hostileState,
  },
  {
    id: "links for the pid file",
    title: "a shared directory has links to a file of the host, with the future names of the pid file",
    mechanism: "a new file is made exclusively, without following links, and renamed over the name",
    defences: "pid-file",
    run: linksForPidFile,
  },
  {
    id: "hostile PATH and program",
    title: "the program is a FIFO, a device, a directory, a loop of links or of interpreters, or PATH leads to the host through ..",
    mechanism: "the search happens below the final root, on regular files; execve(2) decides",
    why: "the kernel's own root and its refusal to execute anything but regular files remain",
    run: hostilePrograms,
  },
  {
    id: "state root of another user",
    title: "the state root is a link of another user to a directory of that user",
    mechanism: "the state root must belong to the caller or to root",
    defences: "state-root",
    run: stateRootOfOther,
  },
];
