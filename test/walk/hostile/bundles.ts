/** Bundles whose program is a witness that answers as little as its kind says. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sampleConfig } from "../../support/config.ts";
import type { Kind } from "./steps.ts";

/** In the root file system of the tests; there the witness and its socket are. */
const SHARE = "/mnt";
const PROGRAM = `${SHARE}/witness`;
const SOCKET = `${SHARE}/s`;

const OPTIONS: Readonly<Record<Kind, readonly string[]>> = {
  polite: ["--ends-on-term"],
  deaf: [],
  shared: ["--child"],
  stopper: ["--stops-others"],
  "create-hook": [],
  "start-hook": [],
};

export interface BundleRequest {
  readonly directory: string;
  readonly rootfs: string;
  /** The host's directory of the witness. */
  readonly share: string;
  /** By which the program calls itself; a hook is called the same with "hook" before it. */
  readonly name: string;
  readonly kind: Kind;
  readonly cgroupsPath: string;
  readonly terminal?: boolean;
}

/** Returns the bundle's directory, made by this. */
export function writeBundle({ directory, rootfs, share, name, kind, cgroupsPath, terminal = false }: BundleRequest): string {
  const config = sampleConfig("hello");
  config.root.path = rootfs;
  config.process["terminal"] = terminal;
  config.process.args = [PROGRAM, ...OPTIONS[kind], SOCKET, name];
  config.mounts.push({ destination: SHARE, type: "bind", source: share, options: ["rbind"] });
  config.linux.cgroupsPath = cgroupsPath;
  // Limits would need controllers that a cgroup of v2 with processes above cannot have.
  config.linux.resources = {};
  if (kind === "shared") config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "pid");
  const hook = (place: string) => [{ path: `${place}/witness`, args: ["witness", `${place}/s`, `hook-${name}`] }];
  if (kind === "create-hook") config["hooks"] = { createRuntime: hook(share) };
  if (kind === "start-hook") config["hooks"] = { startContainer: hook(SHARE) };
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "config.json"), JSON.stringify(config));
  return directory;
}
