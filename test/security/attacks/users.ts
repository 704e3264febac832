/** Attacks with user names and numbers, and the files of an image that translate them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Attack, escaped, held, heldIf, type Outcome } from "../attack.ts";
import type { Subject } from "../subject.ts";

async function nameOfDigits(subject: Subject): Promise<Outcome> {
  const rootfs = subject.rootfs((path) => {
    writeFileSync(join(path, "etc/passwd"), "1000:x:0:0:root:/root:/bin/sh\nroot:x:0:0:root:/root:/bin/sh\n");
    writeFileSync(join(path, "etc/group"), "1000:x:0:\nroot:x:0:\n");
  });
  const id = await subject.running((config) => {
    config.root.path = rootfs;
    config.process.user = { uid: 1000, gid: 1000 };
  });
  const first = await subject.ok(["exec", id, "sh", "-c", "grep -E '^(Uid|Gid)' /proc/1/status | tr '\\n' ' '"]);
  const second = (await subject.call(["exec", "--user", "1000:1000", id, "sh", "-c", "id -u; id -g"])).stdout;
  const isOther = /\b0\b/.test(first) || /\b0\b/.test(second);
  return heldIf(!isOther, `init: ${first.trim()}, exec: ${second.trim().replace("\n", ":")}`);
}

/** Nobody asks for root or for its group with any of these. */
const FORMS = [
  ...[
    "1",
    "1:1",
    "01",
    "1:",
    ":1",
    ":",
    "",
    " 1",
    "1 ",
    "+1",
    "-1",
    "-0",
    "0x1",
    "1e3",
    "1.5",
    "1,0",
    "1;0",
    "1\n0",
    "1:1:0",
    "1:x",
    "x:1",
  ],
  ...["4294967295", "4294967296", "4294967297", "18446744073709551616", "2147483648", "-4294967296", "99999999999999999999"],
  ...["٠", "１", "nobody-of-this-name", "user\u0000root", "1:-1", "1:4294967296", "null", "NaN", "0b0", "00x", "0 1"],
];

async function userForms(subject: Subject): Promise<Outcome> {
  const id = await subject.running((config) => {
    config.process.user = { uid: 1000, gid: 1000 };
  });
  const wrong: string[] = [];
  for (const form of FORMS.filter((text) => !text.includes("\u0000"))) {
    const { status, stdout } = await subject.call(["exec", "--user", form, id, "sh", "-c", "id -u"]);
    if (status === 0 && stdout.trim() === "0") wrong.push(JSON.stringify(form));
  }
  return wrong.length === 0 ? held(`${FORMS.length} forms`) : escaped(`root by ${wrong.join(", ")}`);
}

const PASSWD: Readonly<Record<string, (path: string) => void>> = {
  "a FIFO": (path) => execFileSync("mkfifo", [path]),
  "a directory": (path) => mkdirSync(path),
  "a link to itself": (path) => symlinkSync("passwd", path),
  "a link to /proc/kmsg": (path) => symlinkSync("/proc/kmsg", path),
  "a link to a link to itself": (path) => {
    rmSync(`${path}-again`, { force: true });
    symlinkSync("passwd-again", path);
    symlinkSync("passwd-again", `${path}-again`);
  },
  "a link to a FIFO": (path) => {
    rmSync(`${path}-fifo`, { force: true });
    execFileSync("mkfifo", [`${path}-fifo`]);
    symlinkSync("passwd-fifo", path);
  },
  "a link to the host's": (path) => symlinkSync(`${"../".repeat(40)}../proc/self/fd/../../1/root/etc/passwd`, path),
  "a device that never ends": (path) => execFileSync("mknod", [path, "c", "1", "5"]),
  "10 MB in one line": (path) => writeFileSync(path, `user:x:1000:1000:${"a".repeat(10 << 20)}:/evil:/bin/sh\n`),
  "a million lines": (path) => writeFileSync(path, "user:x:1001:1000::/evil:/bin/sh\n".repeat(1_000_000)),
  "NUL bytes": (path) => writeFileSync(path, "\0\0root\0:x:1000\0:0::/evil:/bin/sh\nuser:x:1000\0:1000::/evil:\0"),
  "no last newline": (path) => writeFileSync(path, "user:x:1000:1000::/home/user:/bin/sh"),
  "negative and overflowing ids": (path) =>
    writeFileSync(path, "a:x:-1000:0::/evil:\nb:x:4294968296:0::/evil:\nc:x:+1000:0::/evil:\nd:x: 1000:0::/evil:\ne:x:0x3e8:0::/evil:\n"),
  "colons only": (path) => writeFileSync(path, ":".repeat(5000)),
  "a home that is no path": (path) => writeFileSync(path, "user:x:1000:1000::../../evil:/bin/sh\n"),
  "a home with a variable": (path) => writeFileSync(path, "user:x:1000:1000::/evil=1 PATH=/evil:/bin/sh\n"),
};

async function hostilePasswd(subject: Subject): Promise<Outcome> {
  const rootfs = subject.rootfs();
  for (const [kind, make] of Object.entries(PASSWD)) {
    for (const name of ["passwd", "group"]) {
      rmSync(join(rootfs, "etc", name), { recursive: true, force: true });
      make(join(rootfs, "etc", name));
    }
    const bundle = subject.bundle((config) => {
      config.root.path = rootfs;
      config.process.user = { uid: 1000, gid: 1000 };
      config.process.args = ["/bin/sh", "-c", "grep ^Uid /proc/self/status; env | grep -c ^HOME=; env | grep -c ^PATH="];
    });
    const began = Date.now();
    const { status, stdout } = await subject.call(["run", "-b", bundle, subject.id()], { through: ["timeout", "-s", "KILL", "15"] });
    if (status === 137 && Date.now() - began > 14_000) return escaped(`etc/passwd is ${kind}: the start hangs`);
    if (status === 0 && stdout !== "Uid:\t1000\t1000\t1000\t1000\n1\n1\n")
      return escaped(`etc/passwd is ${kind}: ${JSON.stringify(stdout)}`);
  }
  return held(`${Object.keys(PASSWD).length} kinds: started with the right user, or an error, at once`);
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2016-3697",
    title: 'etc/passwd of the image has a user named "1000" with uid 0, and the container runs as 1000',
    mechanism: "ids are numbers everywhere; no name is ever looked up",
    why: "runt has no look-up of users that could be switched on",
    run: nameOfDigits,
  },
  {
    id: "CVE-2026-30892",
    title: `exec --user with ${FORMS.length} unusual forms ("1:", "0x1", 2^32, other digits): the runtime reads one of them as root`,
    mechanism: "UID or UID:GID of plain decimal digits below 2^32 - 1, everything else is an error",
    defences: "numeric-user",
    run: userForms,
  },
  {
    id: "hostile passwd and group",
    title: "etc/passwd and etc/group of the image are FIFOs, devices, directories, links, huge or invalid",
    mechanism: "one file of at most 1 MiB is read for HOME, found in the root, whatever links there are, and opened without waiting",
    defences: "passwd",
    run: hostilePasswd,
  },
];
