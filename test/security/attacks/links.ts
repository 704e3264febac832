/** Symlinks in the image, at every place where a runtime makes, opens or mounts something. */
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import type { Attack } from "../attack.ts";
import { type AttackContext, bind, imagesDev, inUserNamespace, lay, MOUNTING, type Trap, traps, upwards, without } from "../files/trap.ts";

const IN_ROOT = "paths of the root filesystem are resolved by openat2(RESOLVE_IN_ROOT), or component by component with O_NOFOLLOW";

interface Place extends Omit<Trap, "name" | "lay"> {
  readonly path: string;
  /** Of the victim; "" is its directory. */
  readonly to?: string;
}

/** The same link by its absolute path, and by `..` alone. */
function bothKinds({ path, to = "", ...rest }: Place): Trap[] {
  const target = ({ victim }: AttackContext) => join(victim.directory, to);
  return [
    { ...rest, name: `${path} by an absolute link`, lay: (context) => lay(context.rootfs, path, target(context)) },
    { ...rest, name: `${path} by a relative link`, lay: (context) => lay(context.rootfs, path, upwards(context, path, target(context))) },
  ];
}

const aDirectory = ({ subject }: AttackContext) => subject.sharedRootfs;
const aFile = ({ subject }: AttackContext) => join(subject.sharedRootfs, "etc/hostname");
const PTS = { destination: "/dev/pts", type: "devpts", source: "devpts", options: ["newinstance", "ptmxmode=0666"] };
const TMPFS = { destination: "/data/new", type: "tmpfs", source: "tmpfs" };

/** The image's own /dev, and so whatever the image has there. */
const withImagesDev = (config: Config) => without(config, "/dev");

/** What an engine mounts or a runtime makes, with a link in its place. */
const PLACES: readonly Place[] = [
  { path: "/proc", ways: MOUNTING },
  { path: "/sys", ways: MOUNTING },
  { path: "/dev", ways: MOUNTING },
  { path: "/dev/pts", change: (config) => [withImagesDev(config), config.mounts.push(PTS)] },
  { path: "/etc", change: (config, context) => config.mounts.push(bind(aFile(context), "/etc/resolv.conf")) },
  { path: "/run", change: (config, context) => config.mounts.push(bind(aDirectory(context), "/run/secrets", "ro")) },
  {
    path: "/sys/fs/cgroup",
    change: (config) => [without(config, "/sys"), config.mounts.push({ destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup" })],
  },
];

/** Mount targets that are missing, and would be made where a link leads. */
const TARGETS: readonly Place[] = [
  { path: "/etc/hosts", to: "new", change: (config, context) => config.mounts.push(bind(aFile(context), "/etc/hosts")), ways: MOUNTING },
  { path: "/data", change: (config, context) => config.mounts.push(bind(aDirectory(context), "/data/new")), ways: MOUNTING },
  { path: "/data", change: (config, context) => config.mounts.push(bind(aFile(context), "/data/a/b/c/file")) },
  { path: "/data", change: (config) => config.mounts.push(TMPFS), ways: MOUNTING },
  { path: "/data", to: "below", change: (config, context) => config.mounts.push(bind(aDirectory(context), "/data/../new")) },
];

/** A link to a link to a link, the last of which leads outside. */
function chain(context: AttackContext): void {
  lay(context.rootfs, "/data", "var/one");
  lay(context.rootfs, "/var/one", "../usr/two/../three");
  lay(context.rootfs, "/usr/two/nothing", "nothing");
  lay(context.rootfs, "/usr/three", context.victim.directory);
}

/** Links that only the kernel can resolve: they lead to what a process has open or has as its root. */
const MAGIC: readonly Trap[] = ["proc/self/root", "proc/thread-self/root", "proc/1/root"].map((path) => ({
  name: path,
  lay: ({ rootfs, victim }) => lay(rootfs, "/data", `${path}${victim.directory}`),
  change: (config: Config, context: AttackContext) => config.mounts.push(bind(aDirectory(context), "/data/new")),
}));

/** The container changes its own image before it is started a second time. */
const SECOND_RUN: Trap = {
  name: "second run",
  async lay({ subject, rootfs, victim }) {
    const first = subject.bundle((config) => {
      config.root = { path: rootfs, readonly: false };
      // The mount point is busy, but its parent can be moved.
      config.process.args = ["/bin/sh", "-c", `mv /data /old && ln -s ${victim.directory} /data`];
      config.mounts.push(TMPFS);
    });
    await subject.ok(["run", "-b", first, subject.id()]);
  },
  change: (config) => config.mounts.push(TMPFS),
};

/** /dev of the image leads to a directory of the host that the container has as a volume: the host's own /dev, say. */
const VOLUME: Trap = {
  name: "a volume behind /dev",
  lay: ({ rootfs }) => lay(rootfs, "/dev", "/host-dev"),
  change: (config, { victim }) => [without(config, "/dev/pts"), config.mounts.push(bind(victim.directory, "/host-dev"))],
};

const VOLUMES: readonly Trap[] = [
  VOLUME,
  {
    ...VOLUME,
    name: "the same in a user namespace",
    change: (config, context) => [VOLUME.change?.(config, context), inUserNamespace(config)],
  },
  {
    ...VOLUME,
    name: "the same, with a terminal",
    change: (config, { victim }) => [imagesDev(config), config.mounts.push(bind(victim.directory, "/host-dev"))],
    terminal: true,
  },
];

/** Nodes that the configuration asks for. */
const NODE = { path: "/data/node", type: "c", major: 1, minor: 5, fileMode: 0o666 };

const OWN_DEV: readonly Place[] = [
  { path: "/dev", change: withImagesDev, ways: MOUNTING },
  { path: "/dev", change: (config) => [withImagesDev(config), inUserNamespace(config)] },
  { path: "/data", change: (config) => Object.assign(config.linux, { devices: [NODE] }) },
];

/** Links of the host that are copied into the image, and what is made for the program's working directory. */
const WRITTEN: readonly Place[] = [
  {
    path: "/data",
    change: (config, { rootfs }) => config.mounts.push(bind(join(rootfs, "bin/sh"), "/data/new", "copy-symlink")),
  },
  { path: "/data", change: (config, context) => config.mounts.push(bind(aFile(context), "/data/.config/wasm.json")) },
  { path: "/data", change: (config) => config.mounts.push({ ...TMPFS, options: ["tmpcopyup"] }) },
];

const DIRECTORIES: readonly Trap[] = [
  ...bothKinds({ path: "/data", change: (config) => Object.assign(config.process, { cwd: "/data/new" }) }),
  // Without pivot_root(2) the host is only behind a chroot(2).
  ...bothKinds({ path: "/data", flags: ["--no-pivot"], change: (config) => Object.assign(config.process, { cwd: "/data/new" }) }),
  ...["/proc/self/root", "/proc/self/cwd", "/proc/self/fd/3", "/proc/self/fd/4", "/proc/self/fd/5"].map(
    (path): Trap => ({
      name: path,
      lay: ({ rootfs, victim }) => lay(rootfs, "/data", `${path}${victim.directory}`),
      change: (config) => Object.assign(config.process, { cwd: "/data/new" }),
    }),
  ),
];

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2015-3627",
    title: "in the image, every path that the runtime makes or mounts is a symlink to the host",
    mechanism: IN_ROOT,
    defences: "in-root,plain-directory,device-link",
    run: traps(PLACES.flatMap(bothKinds)),
  },
  {
    id: "CVE-2019-18837",
    title: "missing mount targets are made at the targets of the image's symlinks",
    mechanism: "every missing component is made by mkdirat(2) or O_EXCL in a directory that is held open inside the root",
    defences: "in-root",
    run: traps([
      ...TARGETS.flatMap(bothKinds),
      { name: "a chain of links", lay: chain, change: (config) => config.mounts.push(TMPFS) },
      SECOND_RUN,
    ]),
  },
  {
    id: "CVE-2026-41579, CVE-2026-47766",
    title: "/dev of the image is a symlink: nodes and links are made in a directory of the host, and its ptmx is removed",
    mechanism: "nodes and links are made by mknodat(2) and symlinkat(2) in a directory that is held open inside the root",
    defences: "in-root,device-link",
    run: traps(OWN_DEV.flatMap(bothKinds)),
  },
  {
    id: "CVE-2026-41579 (volume)",
    title: "/dev of the image is a symlink to a volume, such as the host's /dev at another place: its ptmx is replaced",
    mechanism: "runt makes nothing in a /dev that is reached only through a symlink",
    defences: "device-link",
    run: traps(VOLUMES),
  },
  {
    id: "CVE-2025-24965",
    title: "files that the runtime writes into the image (mount points, nodes, copied links) go to the target of a symlink",
    mechanism: "the runtime writes only these, always through the in-root module; no handler has its own files there",
    defences: "in-root",
    run: traps(WRITTEN.flatMap(bothKinds)),
  },
  {
    id: "working directory a symlink",
    title: "the missing working directory is made at the target of symlinks and magic links of the image",
    mechanism: "it is made after pivot_root, in the root, without magic links",
    why: "nothing of the host is in sight when it is made, and no descriptor of the host's is left open but verified ones",
    run: traps(DIRECTORIES),
  },
  {
    id: "magic links",
    title: "a mount target leads through /proc/self/root to the host",
    mechanism: "RESOLVE_NO_MAGICLINKS; the component walk takes the text of the link, from the root filesystem on",
    defences: "in-root",
    run: traps(MAGIC),
  },
];
