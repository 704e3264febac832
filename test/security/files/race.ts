/** Attacks by a second container, which changes a shared volume while the runtime makes the first. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import { program } from "../../support/programs.ts";
import { escaped, held, type Outcome } from "../attack.ts";
import { type Subject, textOf } from "../subject.ts";
import { bind, consoleSocket, mountPoints, smallRootfs, WAYS, type Way } from "./trap.ts";
import { SECRET, type Victim, victimOf } from "./victim.ts";

/** Attempts in one container. */
export const BATCH = 50;

export interface Track {
  readonly subject: Subject;
  readonly rootfs: string;
  readonly victim: Victim;
  /** A directory of the host: /volume of the attacker's container. */
  readonly volume: string;
  /** Counts the containers that are made. */
  readonly turn: number;
}

export interface Race {
  /** Below the volume; the two are exchanged all the time. */
  readonly swapped: readonly [one: string, other: string];
  /** Once: what is in the volume and in the root filesystem. */
  readonly prepare: (track: Track) => unknown;
  /** For each container: what the caller asks for, BATCH times if he can. */
  readonly change: (config: Config, track: Track) => unknown;
  /** Of the container; it may print SECRET. */
  readonly command?: string;
  /** What the attacker got beside changes of the victim, mounts over it and its secret; "" if nothing. */
  readonly got?: (track: Track, mountinfo: string) => string;
  /** How often one container tries. With few of them there are fewer rounds, too: a container takes its time. */
  readonly attempts?: number;
  /** With a terminal: the container is created and not started. */
  readonly terminal?: boolean;
  /** runt takes them in turn; without the defence it takes the first. */
  readonly ways?: readonly Way[];
}

/** Without its defences it loses sooner or later; with few rounds it would be a matter of luck. */
const ROUNDS_UNDEFENDED = 20_000;

/** A function for `Attack.run`. */
export function race(race: Race): (subject: Subject) => Promise<Outcome> {
  return async (subject) => {
    const volume = subject.scratch("volume");
    const track = { subject, volume, rootfs: smallRootfs(subject), victim: victimOf(subject) };
    await race.prepare({ ...track, turn: 0 });
    await startSwapping(subject, volume, race.swapped);
    const all = race.ways ?? (Object.keys(WAYS) as Way[]);
    const ways = subject.isRunt ? all.slice(0, subject.name === "runt" ? all.length : 1) : (["openat2"] as const);
    const attempts = race.attempts ?? BATCH;
    const rounds = subject.name === "undefended" ? Math.max(subject.rounds, ROUNDS_UNDEFENDED) : subject.rounds;
    const containers = Math.ceil(rounds / BATCH);
    let [turn, made] = [0, 0];
    // A container that is refused has not tried everything. Peers refuse most, and need not be waited for.
    const most = subject.isRunt ? 2 * containers : containers;
    while (made < containers && turn < most) {
      const { gain, status } = await run(race, { ...track, turn: ++turn }, ways[turn % ways.length]!);
      if (gain !== "") return escaped(`in container ${turn}: ${gain}`);
      if (status === 0) made++;
    }
    return held(`${made * attempts} rounds in ${made} containers; ${turn - made} more were refused`);
  };
}

async function startSwapping(subject: Subject, volume: string, [one, other]: Race["swapped"]): Promise<void> {
  const rootfs = smallRootfs(subject);
  copyFileSync(program("swap"), join(rootfs, "swap"));
  await subject.running((config) => {
    config.root = { path: rootfs, readonly: false };
    config.process.args = ["/swap", `/volume/${one}`, `/volume/${other}`];
    config.mounts.push(bind(volume, "/volume"));
  });
}

async function run(race: Race, track: Track, way: Way): Promise<{ gain: string; status: number }> {
  const { subject, victim } = track;
  const mounts = join(subject.scratch("seen"), "mountinfo");
  const bundle = subject.bundle((config) => {
    config.root = { path: track.rootfs, readonly: false };
    config.process.args = ["/bin/sh", "-c", race.command ?? "true"];
    config.process.terminal = race.terminal === true;
    config["hooks"] = { createContainer: [{ path: "/bin/sh", args: ["sh", "-c", `cat /proc/self/mountinfo >${mounts}`] }] };
    race.change(config, track);
  });
  const refuse = WAYS[way];
  const id = subject.id();
  const verb = race.terminal ? ["create", "--console-socket", await consoleSocket(subject)] : ["run"];
  const { status, stdout } = await subject.call([...verb, "-b", bundle, id], refuse === undefined ? {} : { refuse });
  const over = mountPoints({ mountinfo: () => textOf(mounts) }, victim.directory);
  const changes = victim.changes();
  const gains = [
    over === "" ? "" : `mounted over the victim: ${over}`,
    changes === "" ? "" : `the victim has changed: ${changes}`,
    stdout.includes(SECRET) ? "the container has the secret" : "",
    race.got?.(track, textOf(mounts)) ?? "",
  ];
  return { gain: gains.filter((gain) => gain !== "").join("; "), status };
}
