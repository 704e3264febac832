/** A /proc that is not the kernel's: what the runtime writes there would go where the attacker likes. */
import { join } from "node:path";
import type { Mount } from "../../support/config.ts";
import type { Attack } from "../attack.ts";
import { type AttackContext, bind, lay, layFile, MOUNTING, mountPoints, type Trap, traps, without } from "../files/trap.ts";
import { SECRET } from "../files/victim.ts";
import { textOf } from "../subject.ts";

/** A directory that looks like a procfs where the runtime writes, and tells that it is none. */
function fakeProc({ subject }: AttackContext): string {
  const directory = subject.scratch("fake");
  for (const path of ["marker", "self/attr/exec", "self/attr/apparmor/exec", "sys/kernel/domainname"]) layFile(directory, path, SECRET);
  return directory;
}

/** Volumes at /proc or below it, spelled in different ways. The program finds the marker if one is mounted. */
const VOLUMES = ["/proc", "proc/", "/proc/.", "//proc", "/usr/../proc"].map(
  (destination): Trap => ({
    name: destination,
    change: (config, context) => config.mounts.push(bind(fakeProc(context), destination)),
    command: "cat /proc/marker",
  }),
);

const BELOW = ["/proc/sys", "/proc/1/attr", "proc//sys/", "/proc/./fs/../sys"].map(
  (destination): Trap => ({
    name: destination,
    change: (config, context) => config.mounts.push(bind(fakeProc(context), destination)),
    command: `cat ${join("/", destination)}/marker`,
  }),
);

function isPlace({ destination }: Mount): boolean {
  return destination === "/proc" || destination === "/sys";
}

/** /proc or /sys of the image is a link inside it: the paths that are masked later would be looked for somewhere else. */
const LINKED: readonly Trap[] = ["/proc", "/sys"].flatMap((place) =>
  [place, `${place.slice(1)}/`, `${place}/.`, `/${place}`].map(
    (destination): Trap => ({
      name: `${destination} a link`,
      lay: ({ rootfs }) => [layFile(rootfs, "/volume/x", ""), lay(rootfs, place, "/volume")],
      change(config) {
        for (const mount of config.mounts.filter(isPlace)) if (mount.destination === place) mount.destination = destination;
      },
      got: (context) => (mountPoints(context, join(context.rootfs, "volume")) === "" ? "" : "it is mounted on the volume"),
      ways: MOUNTING,
    }),
  ),
);

const SYSCTL = { "kernel.domainname": "example", "net.ipv4.ip_default_ttl": "77" };
const FILES = ["sys/kernel/domainname", "sys/net/ipv4/ip_default_ttl"];

/** No procfs is mounted: the image brings its own, whose files lead to a volume. */
function imagesProc(name: string, prepare: (rootfs: string) => void): Trap {
  return {
    name,
    lay: ({ rootfs }) => prepare(rootfs),
    change(config, { victim }) {
      without(config, "/proc");
      Object.assign(config.linux, { sysctl: SYSCTL, maskedPaths: [], readonlyPaths: [] });
      config.mounts.push(bind(victim.directory, "/volume"));
    },
    got: ({ rootfs }) => (FILES.some((file) => textOf(join(rootfs, "proc", file)) !== "") ? "the value went to a file of the image" : ""),
  };
}

const SYSCTLS: readonly Trap[] = [
  imagesProc("files", (rootfs) => {
    for (const file of FILES) layFile(rootfs, `/proc/${file}`, "");
  }),
  imagesProc("links", (rootfs) => {
    for (const file of FILES) lay(rootfs, `/proc/${file}`, "/volume/secret");
  }),
  imagesProc("a link above", (rootfs) => {
    lay(rootfs, "/proc", "/fake");
    for (const file of FILES) lay(rootfs, `/fake/${file}`, "/volume/secret");
  }),
];

/** The host seems to have AppArmor, in a mount namespace of the runtime's own. */
const WITH_APPARMOR = [
  "unshare",
  "-m",
  "sh",
  "-c",
  'mount -t tmpfs apparmor /sys/module && mkdir -p /sys/module/apparmor/parameters && echo Y >/sys/module/apparmor/parameters/enabled && exec "$0" "$@"',
];

const LABEL_FILES = ["/proc/self/attr/apparmor/exec", "/proc/self/attr/exec"];

const LABELS: readonly Trap[] = [
  {
    name: "files of the image",
    lay({ rootfs }) {
      for (const path of LABEL_FILES) layFile(rootfs, path, "");
    },
    change(config) {
      without(config, "/proc");
      Object.assign(config.process, { apparmorProfile: "container-default" });
      Object.assign(config.linux, { maskedPaths: [], readonlyPaths: [] });
    },
    through: () => WITH_APPARMOR,
    got: ({ rootfs }) => (LABEL_FILES.some((path) => textOf(join(rootfs, path)) !== "") ? "the label went to a file of the image" : ""),
  },
];

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2019-16884",
    title: "a volume of the image is mounted on /proc, and the security label is written to a file in it",
    mechanism: "only a procfs is accepted as a mount on /proc",
    defences: "config-checks",
    run: traps(VOLUMES),
  },
  {
    id: "CVE-2015-3630, CVE-2015-3631",
    title: "a volume is mounted below /proc, over the files of the security modules and the sysctls",
    mechanism: "below /proc, only a list of harmless files can be mount targets",
    defences: "config-checks",
    run: traps(BELOW),
  },
  {
    id: "CVE-2019-19921, CVE-2023-27561, CVE-2023-28642",
    title: "/proc or /sys of the image is a symlink to a volume that the attacker changes between mount and masking",
    mechanism: "the path to the mount of a procfs or sysfs must have no symlink",
    defences: "plain-directory",
    run: traps(LINKED),
  },
  {
    id: "CVE-2025-52881 (sysctl)",
    title: "the image has its own /proc/sys, with symlinks to a file of a volume",
    mechanism: "sysctls are written through the host's verified procfs, below its /proc/sys, without following links or crossing mounts",
    defences: "held-proc",
    run: traps(SYSCTLS),
  },
  {
    id: "CVE-2025-52881 (label)",
    title: "the image has its own /proc/self/attr, so that the security label gets lost",
    mechanism: "labels are written through the host's verified procfs",
    defences: "held-proc",
    run: traps(LABELS),
  },
];
