/**
 * Where runt and its peers may differ: every line of the probe that is not the same must be listed here, with the reason.
 * A row that matches nothing fails the test too, so that the table stays true.
 */
import { readFileSync } from "node:fs";

export interface Difference {
  readonly peer: "runc" | "crun";
  /** Matches "PEER: line" of either side. */
  readonly line: RegExp;
  readonly why: string;
  /** It depends on how the host mounts its hierarchies, so that some hosts do not show it. */
  readonly onSomeHosts?: true;
}

const isRootShared = / \/ \/ \S+ .*\bshared:\d+ .*- /.test(
  readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .findLast((line) => line.split(" ")[4] === "/") ?? "",
);

/** On hosts whose root mount is shared, which is systemd's default. */
const SHARED_ROOT: readonly Difference[] = [
  {
    peer: "crun",
    line: /: mount \/(mnt)?: root \/\S+ options .* type /,
    why: "without rootfsPropagation the mounts of runt and runc are slaves of the host's, those of crun are private",
  },
];

export const DIFFERENCES: readonly Difference[] = [
  ...(isRootShared ? SHARED_ROOT : []),
  {
    peer: "runc",
    line: /: fd [012]: /,
    why: "runc copies the stdio of a foreground container through pipes; runt and crun hand it over as it is",
  },
  {
    peer: "runc",
    line: /: mount \/(proc\/acpi|sys\/firmware): root \/ options ro,.* type tmpfs/,
    why: "runt hides a directory behind a tmpfs that is also nosuid, nodev, noexec and limited to one empty inode",
  },
  {
    peer: "runc",
    line: /: mount \/proc\/(keys|timer_list): root \/null /,
    why: "runt hides a file behind the host's /dev/null, verified to be the device 1:3; runc 1.1 takes the container's (CVE-2025-31133)",
  },
  {
    peer: "runc",
    line: /: dev \/dev\/core: link to \/proc\/kcore/,
    why: "runc leaves the link out on a kernel without /proc/kcore; runt and crun make it always",
  },
  {
    peer: "runc",
    line: /: mount \/sys\/fs\/cgroup: .* type tmpfs/,
    why: "config.json asks for a read-only mount; runc leaves the tmpfs around the hierarchies writable",
  },
  {
    peer: "runc",
    line: /: mount \/sys\/fs\/cgroup\/systemd: .* type cgroup (cgroup|systemd) /,
    why: "only the source text differs, which the kernel does not use",
  },
  {
    peer: "crun",
    line: /: mount \/(proc\/acpi|sys\/firmware): root \/ options ro,.* type tmpfs/,
    why: "runt hides a directory behind a tmpfs that is also nosuid, nodev, noexec and limited to one empty inode",
  },
  {
    peer: "crun",
    line: /: mount \/proc\/(keys|timer_list): root \/null /,
    why: "both use the host's /dev/null; crun makes the mount read-only, which changes nothing for a device",
  },
  {
    peer: "crun",
    line: /: mount \/proc\/(bus|fs|irq|sys): .* type proc/,
    why: "runt and runc keep nosuid, nodev and noexec of the mount around a read-only path, crun drops them",
  },
  {
    peer: "crun",
    line: /: mount \/sys: root \/ .* type sysfs/,
    why: "runt and runc make the new superblock read-only too, crun only the mount",
  },
  {
    peer: "crun",
    line: /: mount \/sys\/fs\/cgroup\/[^/ ]+: .* type cgroup /,
    why: "only the source text differs, which the kernel does not use; and crun mounts hierarchies that the host has mounted nowhere",
  },
  {
    peer: "crun",
    line: /: mount \/sys\/fs\/cgroup: .* type tmpfs/,
    why: "config.json asks for a read-only mount; crun leaves the tmpfs around the hierarchies writable, and limits its size",
  },
  {
    peer: "crun",
    line: /: cgroup (hugetlb|net_cls|net_prio|perf_event):\//,
    why: "a hierarchy that the host has mounted nowhere is mounted for crun alone, which does not run without",
    onSomeHosts: true,
  },
  {
    peer: "crun",
    line: /: cgroup :\//,
    why: "hybrid host whose v2 tree has controllers: crun is not shown that tree, and stays where its caller is; runt and runc join it",
    onSomeHosts: true,
  },
  {
    peer: "crun",
    line: /: syscall 600: /,
    why: "a system call newer than the profile gives ENOSYS under runt and runc, so that programs fall back; crun gives the default",
  },
];
