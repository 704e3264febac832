import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TaskNamespaceRules } from "./task-rules.ts";

/** Programs of a host, as scripts that come first in PATH. */
let directory: string;
let warnings: string[];
let rules: TaskNamespaceRules;
const path = process.env["PATH"];
const PROXY = { redirects: [], egress: { user: 1337, port: 15_001, addresses: [], ignored: [] } };

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-rules-"));
  process.env["PATH"] = `${directory}:${path}`;
  warnings = [];
  rules = new TaskNamespaceRules({ kind: async () => "nft", timeoutMs: 20_000, onWarning: (message) => void warnings.push(message) });
  has("nsenter", 'shift; exec "$@"');
  // Whether the namespace has tables of iptables-legacy.
  has("grep", "exit 1");
  nft('echo "Error: No such file or directory" >&2; exit 1');
});

afterEach(() => {
  process.env["PATH"] = path;
  rmSync(directory, { recursive: true });
});

function has(program: string, script: string): void {
  const file = join(directory, program);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** @param list what it does when it is asked for a chain */
function nft(list: string): void {
  has("nft", `case "$1" in -f) cat >>${directory}/written;; *) ${list};; esac`);
}

const written = () => readFileSync(join(directory, "written"), "utf8");

test("in a namespace of an earlier process the rules of the proxy come with those of services, once", async () => {
  await rules.serve("/x", [], PROXY);
  expect(written()).toMatch(/^add table ip runt-task\n/);
  expect(written()).toContain("add rule ip runt-task output meta l4proto tcp redirect to :15001\n");
  await rules.serve("/x", [], PROXY);
  expect(written().match(/add table ip runt-task/g)).toHaveLength(1);
  rules.isNew("/y");
  await rules.serve("/y", [], PROXY);
  expect(written().match(/add table ip runt-task/g)).toHaveLength(1);
});

test("what iptables-legacy cannot remove is told of once, and the rules are there", async () => {
  has("grep", "exit 0");
  has("iptables-legacy", 'case "$*" in *-C*) exit 0;; esac; echo locked >&2; exit 4');
  for (let times = 0; times < 2; times++) await rules.serve("/x", [], undefined);
  expect([warnings.length, warnings[0]]).toEqual([1, expect.stringContaining("locked")]);
});

test("only a chain that is not there is passed over: other failures to look for it are failures", async () => {
  await rules.serve("/x", [], undefined);
  nft('echo "Error: Could not process rule: Too many open files" >&2; exit 1');
  await expect(rules.serve("/z", [], undefined)).rejects.toThrow("Too many open files");
});

test("a program in the namespace of a task that runs is ended after five seconds", async () => {
  nft("exec sleep 60");
  const before = performance.now();
  await expect(rules.serve("/x", [], undefined)).rejects.toThrow();
  expect(performance.now() - before).toBeLessThan(30_000);
});
