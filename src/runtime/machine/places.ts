/** Paths inside of the jail, which is the root file system of a machine's processes on the host, and inside of the guest. */

export const JAIL = {
  runt: "/runt",
  kernel: "/image/vmlinux",
  initrd: "/image/initrd",
  /** What the guest sees of the host. */
  share: "/share",
  /** Of virtiofsd, for the hypervisor. */
  files: "/run/files.sock",
  /** Of the process that has booted the machine, for the monitor. */
  boot: "/run/boot.sock",
  /** Of the monitor, for the processes that join. */
  monitor: "/run/monitor.sock",
} as const;

/** Entries of the shared directory: the container's root, and its bind mounts, whose number follows. */
export const SHARED = { root: "root", volume: "volume-" } as const;

export const GUEST = {
  runt: "/runt",
  share: "/share",
  bundle: "/bundle",
  state: "/run/runt",
  /** Beginning of the directory of a stream; its number follows. The container has the first. */
  streams: "/run/stream-",
} as const;

/** Name of the port by which the two sides talk, and of the file system. */
export const PORT = "runt";
export const TAG = "share";
