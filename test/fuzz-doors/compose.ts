/** Compose files that are nearly right. The client parses them, so they are given to the parser itself. */
import { parseCompose } from "../../src/pod/index.ts";
import type { Random } from "./random.ts";

const FIELDS = [
  "image",
  "command",
  "environment",
  "env_file",
  "ports",
  "volumes",
  "networks",
  "depends_on",
  "extends",
  "healthcheck",
].concat([
  "deploy",
  "configs",
  "secrets",
  "build",
  "user",
  "ulimits",
  "tmpfs",
  "cap_add",
  "profiles",
  "labels",
  "x-a",
  "include",
  "<<",
  "__proto__",
]);
const SCALARS: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  "",
  "a",
  "$A",
  "${A",
  `\${A:-\${B:-\${C}}}`,
  `\${A:?}`,
  "1-70000:80",
  "8080:80/udp",
];
const TEXTS: readonly unknown[] = [
  "a:/b:ro",
  "/",
  "../..",
  "1e999s",
  "99999999g",
  "sh -c 'x",
  "\0",
  "*",
  "-1",
  "[::1]:80:80",
  "a=b",
  "=",
  ":",
];

/** Milliseconds of this process: more than any of them takes on a slow machine, and far below what a client waits for. */
const MOST_CPU_MS = 5_000;

/** Why the parser has failed; undefined: it has said what is wrong, or taken the file. */
export function faultOfCompose(random: Random): string | undefined {
  const text = composeOf(random);
  const before = process.cpuUsage();
  try {
    parseCompose(text, { environment: { A: "x", B: "$A" }, profiles: [], directory: "/", readFile: () => Buffer.from(text) });
  } catch (error) {
    return `Compose: ${(error as Error).stack}\n${text.slice(0, 4096)}`;
  }
  const { user, system } = process.cpuUsage(before);
  const ms = (user + system) / 1000;
  return ms > MOST_CPU_MS ? `Compose: ${Math.round(ms)} ms\n${text.slice(0, 4096)}` : undefined;
}

function composeOf(random: Random): string {
  const service = () => Object.fromEntries(Array.from({ length: random.below(6) }, () => [random.pick(FIELDS), anythingOf(random)]));
  const services = Object.fromEntries(Array.from({ length: 1 + random.below(4) }, (_, at) => [`s${at}`, service()]));
  const file: Record<string, unknown> = { name: random.pick<unknown>(["p", "P", 1, undefined]), services };
  for (const field of ["volumes", "networks", "configs", "secrets", "include", "x-a"])
    if (random.below(4) === 0) file[field] = anythingOf(random);
  if (random.below(8) === 0) file["services"] = anythingOf(random);
  const long = `${"${A:-".repeat(random.below(20_000))}${"$".repeat(random.below(20_000))}`;
  if (random.below(20) === 0) file["x-long"] = long;
  const text = JSON.stringify(file);
  const kind = random.below(8);
  if (kind === 0) return text.slice(0, random.below(text.length + 1));
  return kind === 1 ? text.replaceAll('"', "").replaceAll(",", random.pick([",", "\n", "\n  ", "\n- "])) : text;
}

function anythingOf(random: Random, level = 0): unknown {
  const kind = random.below(level > 3 ? 4 : 8);
  if (kind < 4) return random.pick([...SCALARS, ...TEXTS]);
  const inner = () => anythingOf(random, level + 1);
  if (kind < 6) return Array.from({ length: random.below(5) }, inner);
  const keys = [
    "a",
    "s0",
    "s1",
    "file",
    "service",
    "source",
    "target",
    "type",
    "condition",
    "test",
    "limits",
    "resources",
    "external",
    "name",
  ];
  return Object.fromEntries(Array.from({ length: random.below(5) }, () => [random.pick([...keys, ...FIELDS]), inner()]));
}
