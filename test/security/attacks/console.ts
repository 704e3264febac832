/** Terminals, with what the image has at /dev/console and /dev/pts. */
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import type { Attack } from "../attack.ts";
import { type AttackContext, imagesDev, lay, MOUNTING, mountPoints, type Trap, traps, upwards, without } from "../files/trap.ts";

function consoleLink(name: string, text: (context: AttackContext) => string, got?: Trap["got"]): Trap {
  return {
    name,
    lay: (context) => lay(context.rootfs, "/dev/console", text(context)),
    change: imagesDev,
    terminal: true,
    ways: MOUNTING,
    ...(got ? { got } : {}),
  };
}

const outside = ({ victim }: AttackContext) => join(victim.directory, "new");

const OUTSIDE: readonly Trap[] = [
  consoleLink("an absolute link", outside),
  consoleLink("a relative link", (context) => upwards(context, "/dev/console", outside(context))),
];

const OVER: readonly Trap[] = ["/etc/passwd", "../etc/group"].map((path) =>
  consoleLink(
    path,
    () => path,
    (context) => {
      const points = mountPoints(context, join(context.rootfs, join("/dev", path.startsWith("/") ? join("..", path) : path)));
      return points === "" ? "" : `the terminal is mounted over ${path}`;
    },
  ),
);

/** No devpts is mounted, and the image's own directory leads to the host's multiplexer. */
const PTMX: readonly Trap[] = [
  ["/dev/pts/ptmx", "/dev/ptmx"],
  ["/dev/pts/ptmx", "/dev/pts/ptmx"],
  ["/dev/pts", "/dev/pts"],
].map(([path = "", text = ""]) => ({
  name: `${path} a link`,
  lay: ({ rootfs }: AttackContext) => lay(rootfs, path, text),
  change: (config: Config) => without(config, "/dev"),
  terminal: true,
  got: (_: AttackContext, { status }: { readonly status: number }) =>
    status === 0 ? "the container has a terminal of the host's devpts" : "",
}));

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2026-88264",
    title: "/dev/console of the image is a symlink, and root makes a file at its target",
    mechanism: "/dev/console is opened and made without following any symlink, inside the root",
    defences: "in-root,device-link",
    run: traps(OUTSIDE),
  },
  {
    id: "CVE-2025-52565",
    title: "/dev/console of the image is a symlink, and the terminal is mounted over the file it leads to",
    mechanism: "/dev/console is opened without following any symlink, and the terminal is mounted on that descriptor",
    defences: "device-link",
    run: traps(OVER),
  },
  {
    id: "CVE-2025-52565 (/dev/pts)",
    title: "/dev/pts and its ptmx in the image are symlinks to those of the host, so that the container gets a terminal there",
    mechanism: "the multiplexer is opened without symlinks, and must be inode 2 of a devpts; TIOCGPTPEER opens its other end",
    defences: "verify-terminal",
    run: traps(PTMX),
  },
];
