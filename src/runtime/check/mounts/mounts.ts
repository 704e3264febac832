import { cleanTarget, type SpecMount } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import { checkMappings } from "../namespaces/id-mappings.ts";

/** config, mounts: destination is required; covering the root of the container is not a mount of it. */
export const mountDestinations: Check = ({ mounts }, report) => {
  (mounts ?? []).forEach(({ destination }, index) => {
    if (destination === "")
      report.error("mount-destination-empty", `/mounts/${index}/destination`, "mounts: destination must not be empty");
    else if (cleanTarget(destination) === "/")
      report.error("mount-on-root", `/mounts/${index}/destination`, `mounts: destination "${destination}" is the root filesystem itself`);
  });
};

/** config, POSIX mounts: uidMappings and gidMappings are given together, in the format of user namespaces. */
export const mountMappings: Check = ({ mounts }, report) => {
  (mounts ?? []).forEach(({ destination, uidMappings, gidMappings }, index) => {
    const uids = uidMappings?.length ?? 0;
    const gids = gidMappings?.length ?? 0;
    if ((uids === 0) !== (gids === 0)) {
      report.error(
        "mount-mappings-half",
        `/mounts/${index}`,
        `mount of "${destination}": uidMappings and gidMappings must be given together`,
      );
    }
    if (uidMappings) checkMappings(report, `/mounts/${index}/uidMappings`, `mount of "${destination}": uidMappings`, uidMappings);
    if (gidMappings) checkMappings(report, `/mounts/${index}/gidMappings`, `mount of "${destination}": gidMappings`, gidMappings);
  });
};

/** Filesystems of the kernel that no Linux so far can show with other ids (mount_setattr(2), MOUNT_ATTR_IDMAP). */
const WITHOUT_ID_MAPS = ["proc", "sysfs", "devpts", "mqueue"];

/** Place of the option idmap or ridmap, which may have a value; -1 without one. */
function findIdMap(options: readonly string[]): number {
  for (let index = 0; index < options.length; index++) {
    const word = options[index]!;
    if (word.includes("idmap") && /^r?idmap(?:=|$)/.test(word)) return index;
  }
  return -1;
}

/** config, POSIX mounts: the filesystem supports id-mapped mounts. */
export const mappedFilesystems: Check = ({ mounts }, report) => {
  (mounts ?? []).forEach(({ destination, options, type, uidMappings }, index) => {
    if (!WITHOUT_ID_MAPS.includes(type ?? "") || options?.includes("bind") || options?.includes("rbind")) return;
    const at = options ? findIdMap(options) : -1;
    if (at < 0 && (uidMappings ?? []).length === 0) return;
    report.error(
      "mount-idmap-filesystem",
      at < 0 ? `/mounts/${index}/uidMappings` : `/mounts/${index}/options/${at}`,
      `mount of "${destination}": ids of a filesystem of type ${type} cannot be mapped`,
    );
  });
};

/** Single files of /proc that lxcfs and checkpointing replace; anything else there would deceive the runtime or the program. */
export const BELOW_PROC: readonly string[] = [
  "cpuinfo",
  "diskstats",
  "meminfo",
  "stat",
  "swaps",
  "uptime",
  "loadavg",
  "slabinfo",
  "sys/kernel/ns_last_pid",
  "sys/crypto/fips_enabled",
];

function isBound({ options, type }: SpecMount): boolean {
  return type === "bind" || options?.includes("bind") === true || options?.includes("rbind") === true;
}

/** As runc says it. */
export const notOfProc = ({ destination }: SpecMount): string => `"${destination}" cannot be mounted because it is not of type proc`;

/** CVE-2019-16884: nothing but a procfs on /proc, and only a few files below it. Of which filesystem the source of a bind mount is, init looks at. */
export const mountsBelowProc: Check = ({ mounts }, report) => {
  (mounts ?? []).forEach((mount, index) => {
    const target = cleanTarget(mount.destination);
    if (target !== "/proc" && !target.startsWith("/proc/")) return;
    if (mount.options?.includes("remount")) return;
    const pointer = `/mounts/${index}/destination`;
    if (target === "/proc") {
      if (mount.type !== "proc" && !isBound(mount)) report.error("mount-on-proc", pointer, notOfProc(mount));
    } else if (!BELOW_PROC.includes(target.slice("/proc/".length))) {
      report.error("mount-inside-proc", pointer, `"${mount.destination}" cannot be mounted because it is inside /proc`);
    }
  });
};
