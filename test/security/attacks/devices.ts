/** The image's own /dev, with something else in the place of the null device. */
import { execFileSync } from "node:child_process";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Attack, heldIf } from "../attack.ts";
import { type AttackContext, lay, layFile, MOUNTING, type Trap, traps, without } from "../files/trap.ts";
import { SECRET } from "../files/victim.ts";
import type { Subject } from "../subject.ts";

const NULL = "/dev/null";

/** /masked must read as nothing; the attacker makes it something by what he puts at /dev/null. */
const masking: Omit<Trap, "name"> = {
  change(config) {
    without(config, "/dev");
    Object.assign(config.linux, { maskedPaths: ["/masked"], readonlyPaths: [] });
  },
  command: "head -c 30 /masked",
  got: (_, { stdout }) => (stdout.includes("\0") ? "zeros can be read from a masked file" : ""),
  ways: MOUNTING,
};

function image(prepare: (context: AttackContext) => void): (context: AttackContext) => void {
  return (context) => {
    layFile(context.rootfs, "/masked", "to be hidden");
    prepare(context);
  };
}

function node(path: string, ...numbers: readonly string[]): void {
  rmSync(path, { force: true });
  execFileSync("mknod", ["-m", "666", path, ...numbers]);
}

const REPLACED: readonly Trap[] = [
  {
    ...masking,
    name: "a link",
    lay: image(({ rootfs }) => [layFile(rootfs, "/other", SECRET), lay(rootfs, NULL, "/other")]),
  },
  { ...masking, name: "a regular file", lay: image(({ rootfs }) => layFile(rootfs, NULL, SECRET)) },
  { ...masking, name: "another device", lay: image(({ rootfs }) => node(join(rootfs, NULL), "c", "1", "5")) },
];

/** crun once reopened standard streams that are the host's null device by /dev/null of the image. */
const STDIN: Trap = {
  name: "standard input",
  lay: ({ rootfs }) => [layFile(rootfs, "/other", SECRET), lay(rootfs, NULL, "/other")],
  change: (config) => without(config, "/dev"),
  through: () => ["sh", "-c", 'exec "$0" "$@" </dev/null'],
  command: "cat",
};

/** The null device that is a standard stream belongs to the host, whatever user the container has. */
async function ownedByContainer(subject: Subject) {
  const path = join(subject.scratch("device"), "null");
  node(path, "c", "1", "3");
  const bundle = subject.bundle((config) => {
    Object.assign(config.process.user, { uid: 1000, gid: 1000 });
    config.process.args = ["/bin/true"];
  });
  const through = ["sh", "-c", `exec "$0" "$@" <${path} >${path} 2>${path}`];
  await subject.call(["run", "-b", bundle, subject.id()], { through });
  const { uid } = statSync(path);
  return heldIf(uid === 0, `the device belongs to ${uid}`);
}

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2025-31133",
    title: "/dev/null of the image is a symlink, a file or another device, and covers masked files",
    mechanism:
      "masks are the host's null device, which runt verifies and clones before; nodes of the image are opened with O_NOFOLLOW and compared",
    defences: "verify-device,null-device",
    run: traps(REPLACED),
  },
  {
    id: "CVE-2026-88265",
    title: "/dev/null of the image is a symlink, and the runtime reopens standard streams that are the null device through it",
    mechanism: "standard streams are passed on unchanged",
    why: "no code opens /dev/null for standard streams",
    run: traps([STDIN]),
  },
  {
    id: "owner of the null device",
    title: "standard streams are the host's null device, and the runtime gives it to the container's user",
    mechanism: "a standard stream that is the character device 1:3 keeps its owner",
    defences: "stdio-device",
    run: ownedByContainer,
  },
];
