/** The records of a running container are removed, so that it runs on unseen. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { finding, type Peer, type PeerAttack } from "./peer.ts";

function isAlive(pid: number, startTicks: string): boolean {
  try {
    return startTicksOf(pid) === startTicks;
  } catch {
    return false;
  }
}

function startTicksOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")[19]!;
}

/** What each keeps of a container while it runs, and of it at all. */
function remove(peer: Peer, id: string): void {
  const below =
    peer.name === "Docker"
      ? [join(peer.directory, "../docker-runc/data/containers"), "/run/docker-runc/exec"]
      : ["/run/libpod-runc", "/run/podman-runc", "/run/runc"];
  for (const directory of below)
    for (const name of readdirSync(directory))
      if (peer.name === "Podman" || name === id || name === "runtime-runc") rmSync(join(directory, name), { recursive: true, force: true });
}

export const lostRecords: PeerAttack = async (peer) => {
  const pid = await peer.running("lost", ["--network", "none"], "trap '' TERM; while :; do sleep 0.2; done");
  const ticks = startTicksOf(pid);
  const id = await peer.ok("inspect", "-f", "{{.Id}}", "lost");
  await peer.killed(() => remove(peer, id));
  await sleep(3000);
  const told = (await peer.client("ps", "-a", "--filter", "name=lost", "--format", "{{.Status}}")).stdout.trim() || "nothing";
  const lives = isAlive(pid, ticks);
  await peer.client("rm", "-f", "lost");
  await sleep(1000);
  const livesOn = isAlive(pid, ticks);
  if (livesOn) process.kill(pid, "SIGKILL");
  const detail = `\`ps -a\` says ${told} while the program ${lives ? "runs" : "has ended"}; after \`rm -f\` it ${livesOn ? "runs on" : "has ended"}`;
  return finding(!lives || /^Up/.test(told), detail);
};
