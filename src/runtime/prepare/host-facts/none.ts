/** `--host none`: a host about which nothing is known, taken to be an ordinary one of today: root, cgroup v2, systemd, no security module. */

import { CAPABILITIES } from "../../../shared/linux/index.ts";
import { HOST_FACTS_VERSION, type HostFacts } from "../../check/index.ts";
import { NAMESPACE_TYPES } from "../../spec/index.ts";
import { idmappedFilesystemsOf, seccompFlagsOf, systemCallsOf } from "./versions.ts";

/** Of no distribution: the first release with all that runt uses. */
const RELEASE = "6.9.0";

export const NO_HOST: HostFacts = {
  hostFacts: HOST_FACTS_VERSION,
  recordedBy: "none",
  kernel: {
    release: RELEASE,
    architecture: "amd64",
    systemCalls: systemCallsOf(RELEASE),
    idmappedFilesystems: idmappedFilesystemsOf(RELEASE),
    memfdNoexec: 0,
  },
  caller: {
    uid: 0,
    gid: 0,
    inUserNamespace: false,
    uidMap: [{ inside: 0, outside: 0, size: 0xffff_ffff }],
    gidMap: [{ inside: 0, outside: 0, size: 0xffff_ffff }],
    setgroups: true,
    newuidmap: "/usr/bin/newuidmap",
    newgidmap: "/usr/bin/newgidmap",
    stateRoot: "/run/runt",
    effective: [...CAPABILITIES],
    bounding: [...CAPABILITIES],
    filtered: false,
    rlimits: {},
  },
  cgroup: {
    version: 2,
    hierarchies: [
      {
        mountpoint: "/sys/fs/cgroup",
        controllers: ["cpuset", "cpu", "io", "memory", "hugetlb", "pids", "rdma", "misc"],
        writable: true,
      },
    ],
    files: [],
  },
  systemd: { system: { socket: "/run/systemd/private", direct: true, version: 255, root: "" } },
  namespaces: [...NAMESPACE_TYPES],
  userNamespaces: 0x7fff_ffff,
  capabilities: [...CAPABILITIES],
  seccomp: { actions: [], flags: seccompFlagsOf(RELEASE) },
  security: { modules: [], apparmor: false, selinux: false },
  filesystems: [],
  sysctls: [],
  cpus: { online: "0", memoryNodes: "0" },
  memory: { total: 0, swap: 0, hugepageSizes: [] },
  limits: { nrOpen: 0, pidMax: 0, threadsMax: 0, mountMax: 0 },
  ioSchedulers: [],
  resctrl: { groups: [], monitors: [] },
  rdmaDevices: [],
  netDevices: [],
};
