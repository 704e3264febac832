/** Cases as real bundles on the disk, and what the real program says of them. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, linkSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Edits, ExampleFile } from "../../src/runtime/check/catalogue/index.ts";
import { contentOf, exampleConfig, FILES, HOST_FACTS } from "../support/example-host.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";
import type { Case } from "./case.ts";
import { isLive } from "./case.ts";

const RUNT = join(REPOSITORY, "bin/runt");

/** The files of the example's host that a directory of one's own can have. */
const OWN = /^\/(?:bundle|srv|usr)(?:\/|$)/;

/** Make the files of a case below a directory. Programs of this machine are busybox, so that they run. */
export function makeFiles(directory: string, files: Case["files"] = {}): void {
  const all: Record<string, ExampleFile> = { ...FILES, "/srv/data": { kind: "directory" }, ...files };
  const mine = Object.entries(all).filter(([path, { kind }]) => OWN.test(path) && kind !== "absent");
  // Parents first.
  for (const [path, file] of mine.sort(([a], [b]) => (a < b ? -1 : 1))) makeFile(join(directory, path), file);
  const modes = mine.filter(([, { kind }]) => kind === "directory").reverse();
  for (const [path, { mode = 0o755 }] of modes) chmodSync(join(directory, path), mode);
}

function makeFile(path: string, { kind, mode = 0o644, text = "", uid }: ExampleFile): void {
  if (kind === "directory") {
    mkdirSync(path, { recursive: true });
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  if (kind === "symlink") symlinkSync(text, path);
  else if (text === "elf:62" && mode === 0o755) linkSync(join(sharedRootfs(), "bin/busybox"), path);
  else if (kind === "file") writeFileSync(path, new Uint8Array(contentOf(text)), { mode });
  else throw new Error(`a ${kind} is not made: ${path}`);
  if (uid !== undefined) chownSync(path, uid, 0);
}

/** The text of config.json, with the paths of the host where they really are. */
export function configText(one: Case, edits: Edits, directory: string, isBroken: boolean): string {
  const config = JSON.stringify(exampleConfig(one, edits), null, 2).replace(/": \[\s*"sh"\s*\]/, '": ["sh"]');
  const text = `${isBroken && one.text ? `${config}\n`.replace(one.text[0], one.text[1]) : `${config}\n`}`;
  return text.replace(/"(?=\/(?:bundle|srv|usr)\/)(?!\/usr\/(?:local\/)?s?bin[":])/g, `"${directory}`);
}

export interface Found {
  readonly code: string;
  readonly pointer: string;
}

/** What `runt validate` finds in a text in the bundle of this directory. */
export function findings(one: Case, directory: string, text: string): readonly Found[] | string {
  const bundle = join(directory, "bundle");
  writeFileSync(join(bundle, "config.json"), text);
  const host = isLive(one) ? ["--host", "live"] : ["--host", recordFacts(one, directory)];
  const args = ["validate", "-f", "json", ...host, ...(one.rootless ? ["--rootless"] : []), "-b", bundle];
  const { stdout, stderr } = spawnSync(RUNT, [...(one.systemd ? ["--systemd-cgroup"] : []), ...args], {
    encoding: "utf8",
    timeout: PATIENCE_MS,
  });
  try {
    return (JSON.parse(stdout) as { findings: Found[] }).findings.map(({ code, pointer }) => ({ code, pointer }));
  } catch {
    return stdout + stderr;
  }
}

function recordFacts({ facts = {} }: Case, directory: string): string {
  const changed = Object.entries(HOST_FACTS).map(([name, value]) => {
    const change = facts[name as keyof typeof facts];
    if (change === undefined) return [name, value];
    return [name, typeof value === "object" && !Array.isArray(value) ? { ...value, ...(change as object) } : change];
  });
  const file = join(directory, "host.json");
  writeFileSync(file, JSON.stringify(Object.fromEntries(changed)));
  return file;
}

/** Run with a directory that is there only meanwhile. */
export function within<T>(directory: string, action: () => T): T {
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  try {
    return action();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
