/** A word that runt does not know is handed over with those of the file system, and the kernel reads these itself (common_set_sb_flag, fs/fs_context.c). */
const READ_BY_KERNEL = "the kernel understands the option itself if it is passed on as an option of the file system";

/** Mutants that no test can tell from runt, with the reason. */
export const EXPLAINED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["async", "dirsync", "mand", "nolazytime", "nomand"].map((word) => [`mount option/${word}`, READ_BY_KERNEL])),
  "op/label.set": "without AppArmor and SELinux nothing has a label: LSM-01 is skipped there",
};

/** Operations that no plan has on a v1 host without systemd: where their tests are. They are not tried there. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  "op/cgroup.openDirectory": "cgroup v2: every item, in the guest",
  "op/cgroup.devices": "cgroup v2: RES-06, in the guest",
  "op/cgroup.delegate": "cgroup v2: CGP-10, in the guest",
  "op/systemd.startUnit": "systemd: test/guest/cases/systemd.test.ts",
  "op/systemd.attach": "systemd: test/guest/cases/systemd-user.test.ts",
  "op/cgroup.attach": "systemd: test/guest/cases/systemd.test.ts",
};

/** Operations and options for what stands beside the specification: no item can ask for them on any host. */
export const BESIDE: Readonly<Record<string, string>> = {
  "op/pidfd.send": "beside the specification: test/e2e/pidfd-socket.test.ts",
  "mount option/dest-nofollow": "beside the specification: test/e2e/mount-words.test.ts",
  "op/root.bind": "beside the specification, mounts in the caller's mount namespace: test/e2e/shared-mounts.test.ts",
  "op/notify.prepare": "beside the specification: test/e2e/notify.test.ts",
  "op/mount.propagation": "beside the specification: test/e2e/live-mounts.test.ts",
  "op/mount.detach": "beside the specification: test/e2e/live-mounts.test.ts",
};
