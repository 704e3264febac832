/** Findings about namespaces, names and clocks. */
import { type Entries, entry } from "../catalogue/entry.ts";

const MAP = [{ containerID: 0, hostID: 100000, size: 65536 }];
const USER = { "/linux/namespaces/-": { type: "user" }, "/linux/uidMappings": MAP, "/linux/gidMappings": MAP };
const TIME = { "/linux/namespaces/-": { type: "time" } };
const NET = { kind: "namespace", text: "network" } as const;
const section = "config-linux.md#namespaces";
const clocks = "config-linux.md#offset-for-time-namespace";

export const NAMESPACES: Entries = {
  "linux-missing": entry(
    "warning",
    "There is no linux section",
    "config.md#platform-specific-configuration",
    "The section is optional, and has all settings that isolate a process. Without it, the process shares every namespace with its caller, which also sees its mounts.",
    "add linux, with namespaces",
    { broken: { "/linux": null } },
  ),
  "namespace-unknown": entry(
    "error",
    "An unknown kind of namespace",
    section,
    "Linux has eight (namespaces(7)); the specification calls two of them network and mount.",
    "correct the name",
    {
      broken: { "/linux/namespaces/1/type": "net" },
      fixed: { "/linux/namespaces/1/type": "network" },
    },
  ),
  "namespace-duplicate": entry(
    "error",
    "A kind of namespace is given twice",
    section,
    "A process is in one of each kind.",
    "leave one of them out",
    {
      broken: { "/linux/namespaces/-": { type: "pid" } },
      at: "/linux/namespaces/6/type",
    },
  ),
  "namespace-unsupported": entry(
    "error",
    "A kind of namespace that the kernel does not have",
    section,
    "It was built without it, or is too old.",
    "leave it out, or use another kernel",
    {
      broken: TIME,
      at: "/linux/namespaces/6/type",
      facts: { namespaces: ["cgroup", "ipc", "mount", "network", "pid", "user", "uts"] },
    },
  ),
  "user-namespaces-off": entry(
    "error",
    "This host allows no user namespaces",
    "namespaces(7)",
    "user.max_user_namespaces is 0, as some distributions set it.",
    "raise user.max_user_namespaces on the host, or use no user namespace",
    { broken: USER, at: "/linux/namespaces/6/type", facts: { userNamespaces: 0 as never } },
  ),
  "namespace-path-relative": entry(
    "error",
    "The path of a namespace is not absolute",
    section,
    "It is a path on the host.",
    "begin it with /",
    {
      broken: { "/linux/namespaces/1/path": "run/netns/web" },
      fixed: { "/linux/namespaces/1/path": "/run/netns/web" },
      files: { "/run/netns/web": NET },
    },
  ),
  "namespace-path-missing": entry(
    "error",
    "A missing namespace to join",
    section,
    "A namespace ends with its last process, unless a file or a descriptor holds it.",
    "make it first, or leave the path out for a new namespace",
    {
      broken: { "/linux/namespaces/1/path": "/run/netns/wbe" },
      fixed: { "/linux/namespaces/1/path": "/run/netns/web" },
      files: { "/run/netns/web": NET },
    },
  ),
  "namespace-path-kind": entry(
    "error",
    "A path that is not a namespace of this kind",
    "setns(2)",
    "The kernel refuses to join it.",
    "name a namespace of the right kind",
    {
      broken: { "/linux/namespaces/0/path": "/run/netns/web" },
      at: "/linux/namespaces/0/path",
      files: { "/run/netns/web": NET },
    },
  ),
  "namespace-path-denied": entry(
    "error",
    "A namespace that the caller may not open",
    "proc_pid_ns(5)",
    "To open the namespaces of a process, a caller needs the right to trace it (ptrace(2)): the same user, or CAP_SYS_PTRACE.",
    "call the runtime with that right, or bind the namespace to a file that the caller may open",
    {
      broken: { "/linux/namespaces/0/path": "/proc/1/ns/pid" },
      at: "/linux/namespaces/0/path",
      files: { "/proc/1/ns/pid": { kind: "namespace", text: "pid", is: "denied" } },
    },
  ),
  "namespace-own": entry(
    "error",
    "A change to the host through its own namespace",
    section,
    "The path leads to the runtime's own namespace. A setting for a namespace of the container would change the host.",
    "leave the path out, or the setting",
    {
      broken: { "/hostname": "web", "/linux/namespaces/3/path": "/proc/1/ns/uts" },
      fixed: { "/hostname": "web" },
      at: "/hostname",
      files: { "/proc/1/ns/uts": { kind: "namespace", text: "uts", is: "own" } },
    },
  ),
  "proc-missing": entry(
    "advice",
    "A pid namespace without a mount on /proc",
    "pid_namespaces(7)",
    "Programs such as ps find nothing, and some do not start.",
    'add {"destination": "/proc", "type": "proc", "source": "proc"}',
    { broken: { "/mounts/0": null }, at: "/mounts" },
  ),
  "hostname-shared": entry(
    "error",
    "A hostname without a UTS namespace",
    "config.md#hostname",
    "It would change that of the host.",
    "add a uts namespace",
    {
      broken: { "/hostname": "web", "/linux/namespaces/3": null },
      fixed: { "/hostname": "web" },
      at: "/hostname",
    },
  ),
  "hostname-long": entry("error", "A hostname that is too long", "sethostname(2)", "The kernel accepts 64 bytes.", "shorten it", {
    broken: { "/hostname": "w".repeat(65) },
    fixed: { "/hostname": "web" },
  }),
  "domainname-shared": entry(
    "error",
    "A domainname without a UTS namespace",
    "config.md#domainname",
    "It would change that of the host.",
    "add a uts namespace",
    {
      broken: { "/domainname": "lan", "/linux/namespaces/3": null },
      fixed: { "/domainname": "lan" },
      at: "/domainname",
    },
  ),
  "domainname-long": entry("error", "A domainname that is too long", "setdomainname(2)", "The kernel accepts 64 bytes.", "shorten it", {
    broken: { "/domainname": "l".repeat(65) },
    fixed: { "/domainname": "lan" },
  }),
  "time-offsets-shared": entry(
    "error",
    "Time offsets without a time namespace",
    clocks,
    "They would move the host's clocks.",
    "add a time namespace",
    {
      broken: { "/linux/timeOffsets": { boottime: { secs: 1 } } },
      fixed: { "/linux/timeOffsets": { boottime: { secs: 1 } }, ...TIME },
    },
  ),
  "time-offsets-joined": entry(
    "error",
    "Time offsets for a namespace that is joined",
    "time_namespaces(7)",
    "Offsets can only be set before the first process enters the namespace.",
    "leave the offsets or the path out",
    {
      broken: { "/linux/namespaces/-": { type: "time", path: "/run/timens" }, "/linux/timeOffsets": { boottime: { secs: 1 } } },
      at: "/linux/timeOffsets",
      files: { "/run/timens": { kind: "namespace", text: "time" } },
    },
  ),
  "time-clock-unknown": entry(
    "error",
    "A clock that has no offset",
    clocks,
    "The namespace has two clocks: monotonic and boottime.",
    "use one of the two",
    {
      broken: { ...TIME, "/linux/timeOffsets": { monotonc: { secs: 1 } } },
      fixed: { ...TIME, "/linux/timeOffsets": { monotonic: { secs: 1 } } },
      at: "/linux/timeOffsets/monotonc",
    },
  ),
  "time-nanosecs-range": entry(
    "error",
    "Nanoseconds of a second or more",
    clocks,
    "They are a part of a second.",
    "put whole seconds into secs",
    {
      broken: { ...TIME, "/linux/timeOffsets": { monotonic: { nanosecs: 1000000000 } } },
      fixed: { ...TIME, "/linux/timeOffsets": { monotonic: { secs: 1 } } },
      at: "/linux/timeOffsets/monotonic/nanosecs",
    },
  ),
  "time-offset-range": entry(
    "error",
    "A time offset that no kernel accepts",
    "time_namespaces(7)",
    "Its clocks hold 292 years.",
    "use a smaller one",
    {
      broken: { ...TIME, "/linux/timeOffsets": { monotonic: { secs: 9223372036 } } },
      fixed: { ...TIME, "/linux/timeOffsets": { monotonic: { secs: 922337203 } } },
      at: "/linux/timeOffsets/monotonic/secs",
    },
  ),
  "time-offset-negative": entry(
    "error",
    "A time offset that would make a clock negative",
    "time_namespaces(7)",
    "The kernel refuses it.",
    "go back by less than the host's uptime",
    {
      broken: { ...TIME, "/linux/timeOffsets": { boottime: { secs: -5000 } } },
      fixed: { ...TIME, "/linux/timeOffsets": { boottime: { secs: -500 } } },
      at: "/linux/timeOffsets/boottime/secs",
    },
  ),
};
