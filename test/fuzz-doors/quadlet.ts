/** Unit files of Quadlet that are nearly right. The client parses them, so they are given to the parser itself. */
import { parseQuadlet } from "../../src/pod/index.ts";
import { SECTIONS as KNOWN } from "../../src/pod/quadlet/fields.ts";
import type { Random } from "./random.ts";

const NAMES = [
  "a.container",
  "b.container",
  "a.pod",
  "a.volume",
  "a.network",
  "a.image",
  "a.kube",
  "a@.container",
  "a@1.container",
  "a.build",
];
/** Keys with an effect, by their sections. */
const USED: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries(KNOWN).flatMap(([name, fields]) => {
    const keys = Object.keys(fields).filter((key) => fields[key]!.kind === "used");
    return keys.length === 0 ? [] : [[name, keys]];
  }),
);
const SECTIONS = [
  "Container",
  "Pod",
  "Volume",
  "Network",
  "Image",
  "Kube",
  "Unit",
  "Service",
  "Install",
  "Quadlet",
  "X-A",
  "Timer",
  "__proto__",
];
const KEYS = [
  "Image",
  "Rootfs",
  "Exec",
  "Environment",
  "EnvironmentFile",
  "Label",
  "Volume",
  "Mount",
  "Tmpfs",
  "Network",
  "IP",
  "PublishPort",
]
  .concat(["Pod", "After", "Requires", "Before", "Conflicts", "HealthCmd", "HealthStartupCmd", "HealthInterval", "Entrypoint", "Ulimit"])
  .concat([
    "LogDriver",
    "LogOpt",
    "Sysctl",
    "User",
    "UserNS",
    "Restart",
    "RestartSec",
    "Type",
    "CPUQuota",
    "Yaml",
    "Device",
    "Options",
    "Subnet",
  ])
  .concat(["DefaultInstance", "ServiceName", "WantedBy", "ContainerName", "AddHost", "DNS", "__proto__", "constructor"]);
const VALUES = [
  "",
  "a",
  "/",
  "../..",
  "a.volume:/b:ro",
  "a.network:ip=1,alias=b",
  "a.pod",
  "b.container a.container",
  "a.image",
  "%n%i%h%",
  "$$",
  `\${A}`,
]
  .concat([
    "'",
    '"a" "b=c"',
    "a=b",
    "\\x41\\xff\\",
    "[",
    '["a"]',
    "type=volume,dst=/a",
    'type=tmpfs,"dst',
    "1-70000:80",
    "[::1]:80:80/udp",
    "-1",
    "99999999g",
  ])
  .concat(["1e999s", "50%", "auto", "host", "always", "oneshot", "healthy", "\0", "\uFFFD", "*", "=", ":", "__proto__=a", "nofile=1:2"]);
const LINES = ["[", "[]", "[Container", "=", "a", "\\", " # c", ";", "\t", "\uFEFF"];

/** Milliseconds of this process: more than any of them takes on a slow machine, and far below what a client waits for. */
const MOST_CPU_MS = 5_000;

/** Why the parser has failed; undefined: it has said what is wrong, or taken the files. */
export function faultOfQuadlet(random: Random): string | undefined {
  const files = Array.from({ length: 1 + random.below(4) }, () => random.pick(NAMES)).map((name) => ({
    name,
    file: name,
    text: unitOf(random),
  }));
  const dropIns = [
    {
      directory: random.pick(["container.d", "a.container.d", "a@.container.d"]),
      files: [{ name: "1.conf", file: "1.conf", text: unitOf(random) }],
    },
  ];
  const shown = () => files.map(({ name, text }) => `${name}\n${text.slice(0, 2048)}`).join("\n");
  const before = process.cpuUsage();
  try {
    parseQuadlet(files, dropIns, { directory: "/", specifiers: { h: "/root" }, readFile: () => Buffer.from("A=1") });
  } catch (error) {
    return `Quadlet: ${(error as Error).stack}\n${shown()}`;
  }
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1000;
  return ms > MOST_CPU_MS ? `Quadlet: ${Math.round(ms)} ms\n${shown()}` : undefined;
}

function unitOf(random: Random): string {
  let section = "Container";
  const line = () => {
    const kind = random.below(24);
    if (kind === 0) return random.pick(LINES);
    if (kind < 4) {
      section = random.pick(SECTIONS);
      return `[${section}]`;
    }
    const own = Object.hasOwn(USED, section) ? USED[section]! : KEYS;
    const key = kind === 4 ? random.pick(KEYS) : random.pick(own);
    return `${key}=${random.pick(VALUES)}${random.below(16) === 0 ? " \\" : ""}`;
  };
  const lines = Array.from({ length: random.below(8) }, line);
  const head = random.below(4) === 0 ? [] : ["[Container]", "Rootfs=/r", "Exec=a"];
  const long = random.below(40) === 0 ? [`Environment=${random.pick(["%n", "'", "\\", "a=b ", '"'])}`.repeat(random.below(20_000))] : [];
  return [...head, ...lines, ...long].join("\n");
}
