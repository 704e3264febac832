/**
 * A group of ten containers up and down, as root: a pod beside `podman kube play`, and a Compose file beside `docker compose` on a dockerd:
 *
 *   tsx bench/engine-group.ts [--rounds N] [--cold N] [--podman DIR] [--docker DIR] [--only podman|docker] [--machine]
 *
 * One pod (bench/group-pod.ts) or one Compose file (bench/group-compose.ts), the same archive of one image, a bridge, a file for each log. Up is until the last container has made a
 * file, as seen from inside; down until the command has ended, which is when nothing is left. Cold is with the image: it is taken from the archive first. The sides take turns, and
 * who begins changes with each round. All of it is in namespaces and cgroups of its own.
 *   --podman DIR   podman of this root file system (tools/debian-tree.sh); without it that of this machine
 *   --docker DIR   Compose, its client and dockerd of this root file system; without it they are left out
 *   --only SIDE    one of the two
 *   --machine      podman and dockerd of this machine; Compose is that of the root file system
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { makeArchive } from "../test/engines/image.ts";
import { mountHierarchies } from "../test/support/hierarchies.ts";
import { requireOwnMounts } from "../test/support/own-mounts.ts";
import { BenchDaemon } from "./engine-daemon.ts";
import { groupCompose } from "./group-compose.ts";
import { Docker } from "./group-docker.ts";
import { cleanCgroups, outside } from "./group-outside.ts";
import { compareSides, Shared } from "./group-rounds.ts";
import { composeSide, type Peer, podmanSide, podSide, type SidePlace } from "./group-sides.ts";
import { mountTree } from "./group-tree.ts";
import { describe, machine } from "./machine.ts";

const REFERENCE = "localhost/bench:1";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    cold: { type: "string", default: "3" },
    podman: { type: "string" },
    docker: { type: "string" },
    only: { type: "string" },
    machine: { type: "boolean", default: false },
    inside: { type: "string" },
    clean: { type: "string" },
  },
});

const COUNTS = { cold: Number(values.cold), warm: Number(values.rounds) };

/** All cgroups are below one of this name, those of Podman excepted. */
const cgroupOf = (work: string): string => basename(work);

function makeImage(work: string): string {
  const rootfs = join(work, "rootfs");
  for (const name of ["bin", "shared", "tmp", "proc", "dev", "sys", "etc"]) mkdirSync(join(rootfs, name), { recursive: true });
  const busybox = spawnSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).stdout.trim();
  cpSync(busybox, join(rootfs, "bin/busybox"));
  for (const name of ["sh", "sleep", "touch", "true"]) symlinkSync("busybox", join(rootfs, "bin", name));
  return makeArchive(work, rootfs, [{ reference: REFERENCE, command: ["sh"] }]);
}

async function inside(work: string): Promise<void> {
  spawnSync("ip", ["link", "set", "lo", "up"]);
  const shared = new Shared(join(work, "shared"));
  const place = { work, shared: shared.directory, archive: makeImage(work), reference: REFERENCE };
  const [podmanTree, dockerTree] = [values.podman, values.docker].map((tree) => (tree === undefined ? undefined : resolve(tree)));
  if (values.only !== "docker") await besidePodman(place, shared, values.machine ? undefined : podmanTree);
  if (values.only !== "podman" && dockerTree !== undefined) await besideDocker(place, shared, dockerTree);
}

async function besidePodman(place: SidePlace, shared: Shared, tree: string | undefined): Promise<void> {
  // Before the daemon starts, so that it has the same mounts.
  if (tree !== undefined) mountTree(tree, place.work);
  const daemon = await daemonOf(place.work);
  const peer = podmanSide(place, tree);
  say(peer);
  await compareSides([podSide(daemon, place), peer], shared, COUNTS);
  await daemon.end();
}

async function besideDocker(place: SidePlace, shared: Shared, tree: string): Promise<void> {
  // containerd's shim refuses to work without them; podman would leave cgroups in them.
  mountHierarchies(place.work);
  mountTree(tree, place.work);
  const daemon = await daemonOf(place.work);
  const file = join(place.work, "compose.json");
  writeFileSync(file, groupCompose(shared.directory));
  const docker = new Docker({ ...place, tree, ofMachine: values.machine, cgroup: `${cgroupOf(place.work)}/docker`, file });
  await docker.ready();
  const peer = docker.side();
  say(peer);
  await compareSides([composeSide(daemon, place, file), peer], shared, COUNTS);
  await docker.end();
  await daemon.end();
}

async function daemonOf(work: string): Promise<BenchDaemon> {
  const daemon = new BenchDaemon({}, `/${cgroupOf(work)}/runtd`);
  await daemon.ready();
  return daemon;
}

function say(peer: Peer): void {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  console.log(`\nruntd ${version}, Node ${process.versions.node}; ${peer.version}. ${describe(machine(resolve("bin/runt")))}.\n`);
}

if (values.clean !== undefined) {
  requireOwnMounts();
  const left = await cleanCgroups(values.clean, cgroupOf(values.clean));
  if (left.length > 0) console.error(`not removed: ${left.join(", ")}`);
} else if (values.inside === undefined) process.exitCode = await outside();
else {
  try {
    requireOwnMounts();
    await inside(values.inside);
    process.exit();
  } catch (error) {
    // What runs still ends with this process.
    console.error(error);
    process.exit(1);
  }
}
