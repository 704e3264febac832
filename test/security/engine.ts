/** Attacks on the engine: on `runtd`, its sockets, its images, its networks and its records. Each is a test of test/engine, which ends the attack as it says. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";
import { PEERS } from "./peers/names.ts";
import { cellOf, type PeerRecords } from "./peers/record.ts";

export interface EngineAttack {
  readonly id: string;
  readonly title: string;
  readonly mechanism: string;
  /** Below test/engine, and the beginning of the title of the test there. */
  readonly file: string;
  readonly test: string;
}

export const ENGINE_ATTACKS: readonly EngineAttack[] = [
  {
    id: "targets of requests",
    title: "a reader requests `//[` and other invalid URLs, with `Upgrade:`, to end the daemon",
    mechanism: "each listener has a last handler, which answers, logs and goes on",
    file: "doors.test.ts",
    test: "no target of a request, ordinary or with Upgrade, ends the daemon",
  },
  {
    id: "hostile input at every door",
    title: "request heads, upgrades, frames, bodies, files and images that are almost valid, from a seed",
    mechanism: "bounds for time, memory and connections; `make fuzz-doors` runs for a given time",
    file: "fuzz-doors.test.ts",
    test: "no head, frame, body, file or image ends the daemon",
  },
  {
    id: "connections without a frame",
    title: "128 upgraded connections send nothing, so that no other client can `exec`",
    mechanism: "the first frame has 10 s",
    file: "doors.test.ts",
    test: "connections that send no first frame give their places back",
  },
  {
    id: "places of readers",
    title: "one reader uses all connections for events and logs",
    mechanism: "one client has half of them: a user, or a process of root",
    file: "clients.test.ts",
    test: "E29 too many subscribers are refused",
  },
  {
    id: "unread answers",
    title: "a client requests much data and reads nothing, to fill the memory of the daemon",
    mechanism: "the daemon closes the connection, and buffers no data for a stream in advance",
    file: "doors.test.ts",
    test: "who asks for much and reads nothing of it is cut off",
  },
  {
    id: "loopback and metadata of the host",
    title: "a task with CAP_NET_ADMIN removes the routes of its namespace, and connects to 127.0.0.1 of the host and to 169.254.169.254",
    mechanism: "chains of the host's packet filter, for each bridge",
    file: "network-guard.test.ts",
    test: "without what blocks them in its own namespace a task reaches neither",
  },
  {
    id: "metadata by IPv6",
    title: "the same task gives itself an address, and sends to fd00:ec2::254 through the bridge",
    mechanism: "the host drops all IPv6 packets from a bridge",
    file: "network-guard.test.ts",
    test: "the host drops all IPv6 packets from a bridge",
  },
  {
    id: "layers that lead out",
    title: "an image has links, names and whiteouts that lead out of its root, decompression bombs, and wrong sizes",
    mechanism: "archives are checked before a program unpacks them",
    file: "hostile-images.test.ts",
    test: "layers that lead out, hide something, or are more than they seem",
  },
  {
    id: "descriptions that lie",
    title: "manifests, configurations and indexes of an image do not match their digests, refer to themselves, or are endless",
    mechanism: "every part is compared with its digest and size; levels and lengths are bounded",
    file: "hostile-images.test.ts",
    test: "descriptions that are not those of their content",
  },
  {
    id: "a layout that is exchanged",
    title: "a layout is exchanged while it is copied",
    mechanism: "the daemon checks the copy, not the original",
    file: "hostile-sources.test.ts",
    test: "a layout that is another one when it is copied",
  },
  {
    id: "records that are lost",
    title: "the records of a running task are removed or damaged, so that it goes on unnoticed",
    mechanism:
      "the cgroup with its random name identifies the processes of the task; they are ended before the task is reported as STOPPED",
    file: "lost-records.test.ts",
    test: "E21 E77 a task with lost records is ended",
  },
];

export type EngineResults = ReadonlyMap<string, "held" | "**succeeds**" | "—">;

/** Runs them, file by file. What a test does not say by passing counts as a success of the attacker. */
export function runEngineAttacks(attacks: readonly EngineAttack[]): EngineResults {
  if (attacks.length === 0) return new Map();
  const directory = mkdtempSync(join(tmpdir(), "runt-engine-attacks-"));
  try {
    const report = join(directory, "report.json");
    const files = [...new Set(attacks.map(({ file }) => `test/engine/${file}`))];
    const args = ["run", "--project", "engine", "--reporter", "json", "--outputFile", report, ...files];
    spawnSync(join(REPOSITORY, "node_modules/.bin/vitest"), args, { cwd: REPOSITORY, stdio: ["ignore", "ignore", "inherit"] });
    return resultsIn(JSON.parse(readFileSync(report, "utf8")), attacks);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

/** Pure. */
export function resultsIn({ testResults }: Report, attacks: readonly EngineAttack[]): EngineResults {
  const statusOf = ({ file, test }: EngineAttack) =>
    testResults
      .filter(({ name }) => name.endsWith(`/${file}`))
      .flatMap(({ assertionResults }) => assertionResults)
      .find(({ title }) => title.startsWith(test))?.status;
  const word = (status: string | undefined) =>
    status === "passed" ? "held" : status === "skipped" || status === "pending" ? "—" : "**succeeds**";
  return new Map(attacks.map((one) => [one.id, word(statusOf(one))]));
}

/** Markdown. @param peers what is recorded of Podman and Docker: attacks of test/security/peers, where these are installed */
export function engineTable(results: EngineResults, peers: PeerRecords): string {
  const rows = ENGINE_ATTACKS.map(({ id, title, mechanism, file }) => {
    const cells = PEERS.map((name) => cellOf(peers[name], id));
    return `| ${id} | ${title} | ${mechanism} (\`test/engine/${file}\`) | ${results.get(id) ?? "—"} | ${cells.join(" | ")} |`;
  });
  const heads = PEERS.map((name) => `${name} ${peers[name]?.version ?? ""}`.trimEnd());
  return [
    `| attack | the attacker tries | what stops it | runt | ${heads.join(" | ")} |`,
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

/** The same attacks on Podman and Docker, each in namespaces of its own. What is not installed is not tried. */
export function runPeerAttacks(only: string): PeerRecords {
  const directory = mkdtempSync(join(tmpdir(), "runt-peer-attacks-"));
  try {
    const file = join(directory, "found.json");
    const args = [join(import.meta.dirname, "peers/main.ts"), "--only", only, "--json", file];
    spawnSync(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "inherit", "inherit"] });
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
