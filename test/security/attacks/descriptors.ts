/** Attacks by descriptors: the runtime's own, the caller's, and those that are missing. */
import { closeSync, openSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "../../support/call.ts";
import { type Attack, escaped, held, heldIf, type Outcome } from "../attack.ts";
import { withVolume } from "../inside.ts";
import type { Subject } from "../subject.ts";

const SECRET = "of the host";
const HIGHEST = 64;

/** The numbers that are tried: in the short form those that the runtime uses, and some. */
function numbers({ rounds }: Subject): readonly number[] {
  const all = Array.from({ length: HIGHEST - 2 }, (_, at) => at + 3);
  return rounds >= LONG ? all : all.filter((fd) => fd < 16 || fd % 16 === 0);
}

const LONG = 1_000;

/** A directory of the host with a secret, and descriptors of it, one after the other from 3. */
function hostDirectory(subject: Subject, count: number): readonly number[] {
  const directory = subject.scratch("host");
  writeFileSync(join(directory, "secret"), SECRET);
  const fds = Array.from({ length: count }, () => openSync(directory, "r"));
  subject.cleanup(() => fds.forEach(closeSync));
  return fds;
}

/**
 * Prints "inside", or "outside" and what is in the working directory when that lies elsewhere; the secret if it is there. In the host's /proc ls(1)
 * fails when a process ends meanwhile.
 */
const WHERE =
  'cat secret 2>/dev/null && exit; at=$(pwd -P) && [ "$(stat -c %d:%i .)" = "$(stat -c %d:%i "$at")" ] && echo inside || { echo outside; ls; }';

function judge(way: string, { stdout }: { readonly stdout: string }): string | undefined {
  return ["", "inside"].includes(stdout.trim()) ? undefined : `${way}: ${stdout.trim().split("\n").slice(0, 5).join(" ")}`;
}

async function workingDirectory(subject: Subject, options: { readonly extra?: readonly number[] }): Promise<Outcome> {
  for (const fd of numbers(subject)) {
    const bundle = subject.bundle((config) => {
      config.process.cwd = `/proc/self/fd/${fd}`;
      config.process.args = ["/bin/sh", "-c", WHERE];
    });
    const way = judge(`cwd /proc/self/fd/${fd}`, await subject.call(["run", "-b", bundle, subject.id()], options));
    if (way !== undefined) return escaped(way);
  }
  return held(`${numbers(subject).length} descriptors from 3 to ${HIGHEST}`);
}

async function programPath(subject: Subject, options: { readonly extra?: readonly number[] }): Promise<Outcome> {
  for (const fd of numbers(subject)) {
    const bundle = subject.bundle((config) => {
      config.process.args = [`/proc/self/fd/${fd}/tool`];
    });
    const { status, stdout } = await subject.call(["run", "-b", bundle, subject.id()], options);
    if (status === 0 || stdout.includes(SECRET)) return escaped(`program /proc/self/fd/${fd}/tool`);
  }
  return held(`${numbers(subject).length} descriptors from 3 to ${HIGHEST}`);
}

async function execDirectory(subject: Subject, options: { readonly extra?: readonly number[] }): Promise<Outcome> {
  const links = subject.scratch("links");
  const id = await subject.running((config) => withVolume(config, links, "/dev/links"));
  for (const fd of numbers(subject)) {
    if (fd % 4 === 0) await subject.ok(["exec", id, "ln", "-sfn", `/proc/self/fd/${fd}`, "/dev/links/way"]);
    const ways = fd % 4 === 0 ? [`/proc/self/fd/${fd}`, "/dev/links/way"] : [`/proc/self/fd/${fd}`];
    for (const cwd of ways) {
      const way = judge(`exec --cwd ${cwd} (${fd})`, await subject.call(["exec", "--cwd", cwd, id, "sh", "-c", WHERE], options));
      if (way !== undefined) return escaped(way);
    }
  }
  return held(`${numbers(subject).length} descriptors from 3 to ${HIGHEST}, straight and by a link`);
}

/** What a container that is created but not started holds open, as somebody in its PID namespace could use it. */
async function createdInit(subject: Subject): Promise<Outcome> {
  const id = subject.id();
  await subject.ok(["create", "-b", subject.bundle(), id], { extra: hostDirectory(subject, 2) });
  const pid = await subject.pid(id);
  const directories = readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    const info = statSync(`/proc/${pid}/fd/${fd}`, { throwIfNoEntry: false });
    return info?.isDirectory() === true;
  });
  return heldIf(directories.length === 0, directories.length === 0 ? "no directory among them" : `directories: ${directories.join(" ")}`);
}

async function inProgram(subject: Subject): Promise<Outcome> {
  const bundle = subject.bundle((config) => {
    config.process.args = ["/bin/sh", "-c", "for fd in 3 4 5 6; do cat /proc/self/fd/$fd/secret; done 2>/dev/null; echo end"];
  });
  const { stdout, stderr } = await subject.call(["run", "-b", bundle, subject.id()], { extra: hostDirectory(subject, 4) });
  return heldIf(!stdout.includes(SECRET), stdout.includes(SECRET) ? "the program has the caller's descriptors" : (stderr || stdout).trim());
}

/** Started without stdio, the runtime must not take the files that it opens for it, nor leave a program without. */
async function closedStdio(subject: Subject): Promise<Outcome> {
  const out = subject.scratch("out");
  for (const closed of ["<&-", ">&-", "2>&-", "<&- >&-"]) {
    const bundle = subject.bundle((config) => {
      withVolume(config, out, "/dev/out");
      // The shell's first redirection would take the lowest free number.
      config.process.args = ["/bin/sh", "-c", "for fd in 0 1 2; do [ -e /proc/$$/fd/$fd ] || : > /dev/out/missing-$fd; done"];
    });
    await call(subject.directory, ["sh", "-c", `exec "$@" ${closed}`, "sh", ...subject.command(["run", "-b", bundle, subject.id()])], {
      env: subject.runtime.env,
    });
    const missing = readdirSync(out);
    if (missing.length > 0) return escaped(`with ${closed} the program has ${missing.join(" ")}: its next file takes the place`);
  }
  return held("always three descriptors, or an error");
}

const OWN =
  "no directory of the host is open when the working directory changes, and getcwd(2) finds a directory that is not below the root";
const CALLERS = "before the helper starts, every descriptor of the caller that is not passed on is close-on-exec";

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2024-21626",
    title: "process.cwd is /proc/self/fd/N: a directory of the host that the runtime has left open",
    mechanism: OWN,
    defences: "in-root,cwd-check",
    run: (subject) => workingDirectory(subject, {}),
  },
  {
    id: "CVE-2024-21626 (caller's descriptors)",
    title: "the same, with directories that the caller has left open",
    mechanism: CALLERS,
    defences: "keep-descriptors,in-root,cwd-check",
    run: (subject) => workingDirectory(subject, { extra: hostDirectory(subject, HIGHEST - 2) }),
  },
  {
    id: "CVE-2024-21626 (program)",
    title: "process.args[0] is /proc/self/fd/N/tool: a program of the host",
    mechanism: CALLERS,
    defences: "keep-descriptors",
    run: (subject) => {
      const fds = hostDirectory(subject, HIGHEST - 2);
      const directory = join(subject.directory, readdirSync(subject.directory).find((name) => name.startsWith("host"))!);
      writeFileSync(join(directory, "tool"), "#!/bin/sh\necho of the host\n", { mode: 0o755 });
      return programPath(subject, { extra: fds });
    },
  },
  {
    id: "CVE-2024-21626 (exec)",
    title: "exec --cwd into /proc/self/fd/N, also through a link that the container has made",
    mechanism: "the same two for exec",
    defences: "cwd-check",
    run: (subject) => execDirectory(subject, {}),
  },
  {
    id: "CVE-2024-21626 (exec, caller's descriptors)",
    title: "the same, with directories that the caller has left open",
    mechanism: CALLERS,
    defences: "keep-descriptors,cwd-check",
    run: (subject) => execDirectory(subject, { extra: hostDirectory(subject, HIGHEST - 2) }),
  },
  {
    id: "leaked descriptors (waiting init)",
    title: "a process in the same PID namespace finds a directory of the host among the descriptors of an init that waits for start",
    mechanism: "init closes descriptors that it no longer needs before it reports that it is ready",
    defences: "keep-descriptors",
    run: createdInit,
  },
  {
    id: "leaked descriptors (program)",
    title: "the program inherits directories that the caller has left open",
    mechanism: "everything above stdio and --preserve-fds is marked close-on-exec, in the runtime and again in init",
    defences: "keep-descriptors",
    run: inProgram,
  },
  {
    id: "closed stdio",
    title: "runt starts with a closed stdin, stdout or stderr: another file of runt, or of the program, gets this number",
    mechanism: "runt first opens /dev/null in their place",
    defences: "stdio",
    run: closedStdio,
  },
];
