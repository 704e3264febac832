/**
 * The attacks on the engine, tried with Podman and Docker where these are installed: a part of `make test-security`, and by itself
 *   npx tsx test/security/peers/main.ts [--only TEXT] [--peers Podman,Docker] [--json FILE]
 * Mount, PID and network namespaces of its own, in which all processes end with the first; the outer half removes cgroups and files.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { IMAGE } from "../../engines/engine.ts";
import { makeArchive } from "../../engines/image.ts";
import { enterSandbox } from "../../engines/sandbox.ts";
import { hasControllers, mountHierarchies, removeCgroups } from "../../support/hierarchies.ts";
import { outerMounts, requireOwnMounts } from "../../support/own-mounts.ts";
import { REPOSITORY } from "../../support/programs.ts";
import { PEER_ATTACKS } from "./attacks.ts";
import { type Finding, PEERS, type PeerName } from "./names.ts";
import { missing, Peer, versionOf } from "./peer.ts";
import type { PeerRecord } from "./record.ts";

/** conmon's own, made whatever it is asked. */
const CGROUPS = ["libpod_parent", "conmon"];

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    peers: { type: "string", default: PEERS.join() },
    json: { type: "string" },
    inside: { type: "string" },
    clean: { type: "string" },
  },
});

const foundIn = (directory: string): string => join(directory, "found.json");

const present = PEERS.filter((one) => values.peers.split(",").includes(one) && missing(one) === undefined);

async function outer(): Promise<number> {
  if (process.geteuid?.() !== 0) throw new Error("these attacks need root");
  for (const name of PEERS) if (missing(name) !== undefined) console.log(`engine: ${name} is not tried: there is no ${missing(name)}`);
  if (present.length === 0) return 0;
  const self = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  // On a disk: overlay needs it, and /tmp may be a tmpfs.
  const directory = mkdtempSync("/var/tmp/runt-peers-");
  chmodSync(directory, 0o755);
  try {
    mkdirSync(join(directory, "bin"));
    copyFileSync("/usr/sbin/runc", join(directory, "bin/runc"));
    execFileSync(join(REPOSITORY, "bundles/make-rootfs.sh"), [join(directory, "rootfs")]);
    const namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private"];
    const command = ["--pdeathsig", "KILL", "--", "unshare", ...namespaces, "--", "catatonit", "--", ...self, "--inside", directory];
    const child = spawn("setpriv", command, { stdio: "inherit", env: { ...process.env, ...outerMounts() } });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => child.kill("SIGKILL"));
    return await new Promise<number>((done) => child.on("exit", (status) => done(status ?? 1)));
  } finally {
    // The inner half has a /tmp of its own.
    if (values.json !== undefined && existsSync(foundIn(directory))) copyFileSync(foundIn(directory), values.json);
    const clean = ["--mount", "--propagation", "private", "--", ...self, "--clean", directory];
    spawnSync("unshare", clean, { stdio: "inherit", env: { ...process.env, ...outerMounts() } });
    rmSync(directory, { recursive: true, force: true });
  }
}

/** An attack that could not be tried is told, and leaves what is recorded of it. */
async function attacked(name: PeerName, directory: string): Promise<{ readonly record: PeerRecord; readonly isWhole: boolean }> {
  const archive = makeArchive(directory, join(directory, "rootfs"), [{ reference: IMAGE, command: ["sh"] }]);
  const place = { directory, archive, cgroup: basename(directory), hasControllers: hasControllers() };
  const peer = await Peer.start(name, place);
  const findings: Record<string, Finding> = {};
  let isWhole = true;
  for (const [id, attack] of Object.entries(PEER_ATTACKS).filter(([id]) => id.includes(values.only))) {
    try {
      const found = await attack(peer);
      findings[id] = found;
      console.log(`engine: ${id}\n  ${name.padEnd(9)} ${found.word.replaceAll("*", "")}: ${found.detail}`);
    } catch (error) {
      isWhole = false;
      console.log(`engine: ${id}\n  ${name.padEnd(9)} broken: ${String(error).slice(0, 300)}`);
    }
  }
  await peer.stop();
  return { record: { version: versionOf(name), findings }, isWhole };
}

async function inner(directory: string): Promise<number> {
  enterSandbox(directory, [], false);
  const records: Partial<Record<PeerName, PeerRecord>> = {};
  let status = 0;
  for (const name of present) {
    const { record, isWhole } = await attacked(name, directory);
    records[name] = record;
    if (!isWhole) status = 1;
  }
  writeFileSync(foundIn(directory), JSON.stringify(records));
  return status;
}

/** By the host's view of the cgroups. */
function clean(directory: string): number {
  mountHierarchies(directory);
  const left = removeCgroups([basename(directory), ...CGROUPS]);
  if (left.length > 0) console.error(`left: ${left.join(" ")}`);
  return 0;
}

if (values.clean !== undefined || values.inside !== undefined) requireOwnMounts();
if (values.clean !== undefined) process.exit(clean(values.clean));
process.exit(values.inside === undefined ? await outer() : await inner(values.inside));
