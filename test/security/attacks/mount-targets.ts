/** Mount targets that are not what they seem: they lead out by `..`, into a procfs, or are no files at all; and a root that is a link. */
import { renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import type { Attack } from "../attack.ts";
import {
  type AttackContext,
  bind,
  fifoOpened,
  imagesDev,
  lay,
  layFifo,
  layFile,
  MOUNTING,
  type Trap,
  traps,
  upwards,
} from "../files/trap.ts";
import { SECRET } from "../files/victim.ts";

const FAKE = "the attacker's own";

/** A file of the attacker's, which the caller binds for him. */
function offer({ subject }: AttackContext): string {
  const directory = subject.scratch("offer");
  layFile(directory, "file", FAKE);
  return join(directory, "file");
}

/** The same place outside, spelled in ways that a runtime may clean or not. */
const SPELLINGS: readonly Trap[] = [
  ["/..", (context: AttackContext) => `/${upwards(context, "/x", context.victim.directory)}/new`],
  ["no slash before ..", (context: AttackContext) => `${upwards(context, "/x", context.victim.directory)}/new`],
  ["up from a directory", (context: AttackContext) => `/usr/bin/../../${upwards(context, "/x", context.victim.directory)}/new`],
  ["far up", (context: AttackContext) => `/${"../".repeat(30)}${context.victim.directory}/new`],
].map(([name, destination]) => ({
  name: name as string,
  change: (config: Config, context: AttackContext) =>
    config.mounts.push({ destination: (destination as (context: AttackContext) => string)(context), type: "tmpfs", source: "tmpfs" }),
  ways: MOUNTING,
}));

/** What is bound at /data for the program turns up at a path of the procfs. */
const OVER_PROC: readonly Trap[] = ["/proc/version", "/proc/sys/kernel/ostype", "/proc/1/comm"].map((path) => ({
  name: path,
  lay: ({ rootfs }) => lay(rootfs, "/data", path),
  change: (config: Config, context: AttackContext) => config.mounts.push(bind(offer(context), "/data")),
  command: `cat ${path}`,
  got: (_, { stdout }) => (stdout.includes(FAKE) ? `${path} is the attacker's` : ""),
  ways: MOUNTING,
}));

function fifo(name: string, path: string, change: (config: Config, context: AttackContext) => unknown, terminal = false): Trap {
  return { name, lay: (context) => layFifo(context, path), change, terminal, got: fifoOpened, command: "sleep 0.02" };
}

const FIFOS: readonly Trap[] = [
  fifo("the target of a file", "/data", (config, context) => config.mounts.push(bind(offer(context), "/data"))),
  fifo("the target of a tmpfs", "/data", (config) => config.mounts.push({ destination: "/data/new", type: "tmpfs", source: "tmpfs" })),
  fifo("a masked path", "/data", (config) => Object.assign(config.linux, { maskedPaths: ["/data"] })),
  fifo("/dev/console", "/dev/console", imagesDev, true),
];

const ROOT: Trap = {
  name: "a link",
  lay({ subject, rootfs }) {
    const other = subject.rootfs((path) => layFile(path, "secret", SECRET));
    renameSync(rootfs, `${rootfs}.moved`);
    symlinkSync(other, rootfs);
    subject.cleanup(() => rmSync(rootfs));
  },
  command: "cat /secret",
};

export const ATTACKS: readonly Attack[] = [
  {
    id: "mount target with ..",
    title: "the destination of a mount climbs out of the root filesystem",
    mechanism: "RESOLVE_IN_ROOT; the component walk handles .. by walking down from the root again",
    defences: "in-root",
    run: traps(SPELLINGS),
  },
  {
    id: "CVE-2025-52881 (mount over /proc)",
    title: "a symlink of the image leads a volume onto a file of the container's procfs",
    mechanism: "a target inside a procfs that is reached only through a symlink is refused",
    defences: "procfs-link",
    run: traps(OVER_PROC),
  },
  {
    id: "FIFO in the image",
    title: "a FIFO is in the place of a mount target or masked path, so that the runtime opens it and hangs",
    mechanism: "files in the root filesystem are opened with O_PATH, which does not open the FIFO",
    defences: "path-descriptors",
    run: traps(FIFOS),
  },
  {
    id: "root filesystem a symlink",
    title: "the root filesystem itself is replaced by a symlink to another directory",
    mechanism: "it is opened with O_NOFOLLOW and bound by its descriptor",
    defences: "root-link",
    run: traps([ROOT]),
  },
];
