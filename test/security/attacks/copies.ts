/** tmpcopyup: what a tmpfs covers is copied into it by the runtime, and the image decides what that is. */
import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import type { Attack } from "../attack.ts";
import { type AttackContext, fifoOpened, lay, layFifo, layFile, type Trap, traps, upwards } from "../files/trap.ts";

const mount = (config: Config) =>
  config.mounts.push({ destination: "/data", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup", "size=1m", "mode=755"] });
const command = "cat /data/* /data/*/* 2>/dev/null";

const secret = ({ victim }: AttackContext) => join(victim.directory, "secret");

const FOLLOWED: readonly Trap[] = [
  { name: "a link", lay: (context) => lay(context.rootfs, "/data/file", secret(context)), change: mount, command },
  {
    name: "a relative link",
    lay: (context) => lay(context.rootfs, "/data/file", upwards(context, "/data/file", secret(context))),
    change: mount,
    command,
  },
  { name: "a link below", lay: (context) => lay(context.rootfs, "/data/below/file", secret(context)), change: mount, command },
  {
    name: "a FIFO",
    lay: (context) => [mkdirSync(join(context.rootfs, "data")), layFifo(context, "/data/file")],
    change: mount,
    got: fifoOpened,
  },
];

const COVERED: readonly Trap[] = [
  { name: "absolute", lay: ({ rootfs, victim }) => lay(rootfs, "/data", victim.directory), change: mount, command },
  {
    name: "relative",
    lay: (context) => lay(context.rootfs, "/data", upwards(context, "/data", context.victim.directory)),
    change: mount,
    command,
  },
];

const BOUNDLESS: readonly Trap[] = [
  {
    name: "a file of a terabyte",
    lay: ({ rootfs }) => [layFile(rootfs, "/data/file", ""), truncateSync(join(rootfs, "data/file"), 2 ** 40)],
    change: mount,
  },
  {
    name: "a thousand levels",
    lay: ({ rootfs }) => execFileSync("mkdir", ["-p", join(rootfs, "data", "d/".repeat(1000))]),
    change: mount,
  },
];

export const ATTACKS: readonly Attack[] = [
  {
    id: "tmpcopyup (contents)",
    title: "the directory that is copied into a tmpfs has symlinks to files of the host, and FIFOs",
    mechanism:
      "links are copied as links, and FIFOs and nodes are not copied; files are opened with O_NOFOLLOW and O_NONBLOCK, and must be regular",
    defences: "copy-kinds",
    run: traps(FOLLOWED),
  },
  {
    id: "tmpcopyup (directory)",
    title: "the directory that is copied into a tmpfs is itself a symlink to a directory of the host",
    mechanism: "it is resolved in the root before the tmpfs covers it",
    defences: "in-root",
    run: traps(COVERED),
  },
  {
    id: "tmpcopyup (size)",
    title: "the directory that is copied into a tmpfs has a terabyte, or a thousand levels, so that the runtime hangs or crashes",
    mechanism: "the size of the tmpfs ends the copy with an error; directories are copied to a depth of 100",
    why: "the kernel bounds the one, the stack the other: without the runtime's own bound creating the container fails as well",
    run: traps(BOUNDLESS),
  },
];
