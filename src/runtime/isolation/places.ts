/** Paths inside of the jail, which is the root file system of a machine's processes on the host, and inside of the guest. */

export const JAIL = {
  runt: "/runt",
  kernel: "/image/vmlinux",
  initrd: "/image/initrd",
  /** Nodes of the block devices that are the machine's disks; a number follows. */
  disks: "/dev/disk-",
  /** What the guest sees of the host. */
  share: "/share",
  /** Of virtiofsd, for the hypervisor. */
  files: "/run/files.sock",
  /** Of the process that has booted the machine, for the monitor. */
  boot: "/run/boot.sock",
  /** Of the monitor, for the processes that join. */
  monitor: "/run/monitor.sock",
  /** There where the cgroup of the container's processes on the host has a limit of memory. */
  limited: "/run/memory-limited",
} as const;

/** On the host: what is known of its machines until it boots anew. */
export const KNOWN = { directory: "/run/runt-vm", file: "known.json" } as const;

/** The monitor's socket, for the processes of a container that has joined the machine: their pid namespace is the monitor's, whose first process it is. */
export const MONITOR_OF_THE_SANDBOX = `/proc/1/root${JAIL.monitor}`;

/**
 * Entries of the shared directory: the container's root, and its bind mounts, whose number follows. A container that has joined the machine has a
 * directory of its own with these two, named by its id, a dot, and a number that no other gets: the guest may know an old one for a while.
 */
export const SHARED = { root: "root", volume: "volume-", joined: "joined-", shell: "shell-" } as const;

/** Where a shell of the guest is in its root, and the directories of that. */
export const SHELL = "/bin/sh";
export const SHELL_DIRECTORIES = ["bin", "proc", "sys", "dev", "tmp"] as const;

export const GUEST = {
  runt: "/runt",
  share: "/share",
  state: "/run/runt",
  bundle: "/bundle",
  /** Directories of containers that have joined the machine, by their ids: what they have of the shared directory. */
  joined: "/joined",
  /** Beginning of the directory of a stream; its number follows. The first container has the first. */
  streams: "/run/stream-",
  /** Links to the disks, by their numbers on the host. */
  disks: "/run/disks",
  /** Modules that not every guest needs: a file for each name, with the paths of it and of what it needs. */
  modules: "/modules",
  /** What the containers of a pod share as theirs. */
  sharedMemory: "/dev/shm",
} as const;

/** The container's cgroup in the guest; `id`: of one that has joined the machine. */
export const guestCgroup = (id?: string): string => (id === undefined ? "/container" : `/joined-${id}`);

/** Leads in the guest to the directory below /proc of a container's first process; `id`: of one that has joined the machine. */
export const guestProcess = (id?: string): string => (id === undefined ? "/run/sandbox" : `/run/joined-${id}`);

/** By which the guest knows the disk of this place in the list. */
export const diskSerial = (number: number): string => `runt-${number}`;

/** Name of the port by which the two sides talk, and of the file system. */
export const PORT = "runt";
export const TAG = "share";
