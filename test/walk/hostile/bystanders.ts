/** Everybody who has nothing to do with the containers of the walk: processes, cgroups, containers of other runtimes, files. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "../../support/call.ts";
import { CGROUPS, isUnified } from "../../support/cgroups.ts";
import { peerCommand } from "../../support/crun.ts";
import { PATIENCE_MS } from "../../support/patience.ts";
import { enterPlace, HIERARCHIES, identities, makePlace, removePlace, thawPlace } from "../../support/places.ts";
import { fileTree } from "../../support/snapshot.ts";
import { systemdRuns } from "../../support/systemd.ts";
import { writeBundle } from "./bundles.ts";
import { unitOf } from "./roots.ts";
import { KEPT_SLOTS } from "./steps.ts";
import type { Witnesses } from "./witnesses.ts";

const HANDS_DOWN = isUnified && readFileSync(`${CGROUPS}/cgroup.controllers`, "utf8").trim() !== "";
/** Cgroups in a message. */
const SHOWN = 6;
const PEERS = ["/usr/sbin/runc", "/usr/bin/crun"];

export class Bystanders {
  private readonly witnesses: Witnesses;
  private readonly directory: string;
  private readonly rootfs: string;
  /** Absolute path of the cgroup above all others. */
  private readonly base: string;
  private cgroups: readonly string[] = [];
  private files: readonly string[] = [];
  private readonly inside = new Map<number, boolean>();
  private intruders = 0;

  constructor({ witnesses, directory, rootfs, base }: { witnesses: Witnesses; directory: string; rootfs: string; base: string }) {
    this.witnesses = witnesses;
    this.directory = directory;
    this.rootfs = rootfs;
    this.base = base;
  }

  place(slot: number): string {
    return `${this.base}/slot-${slot}`;
  }

  /** On v1 the second one is there before in every other hierarchy only. */
  private hierarchiesOf(slot: number): readonly string[] {
    return slot === 0 ? HIERARCHIES : HIERARCHIES.filter((_, index) => index % 2 === 0);
  }

  private get outside(): string {
    return `${this.base}/outside`;
  }

  async gather(): Promise<void> {
    makePlace(this.base);
    await this.start("root", "/");
    // Controllers cannot be handed down past a process; on v2 that would make every container a threaded one.
    if (!HANDS_DOWN) await this.start("parent", this.base);
    makePlace(this.outside);
    await this.start("sibling", this.outside);
    for (let slot = 0; slot < KEPT_SLOTS; slot++) {
      makePlace(this.place(slot), this.hierarchiesOf(slot));
      await this.start(`visitor-${slot}`, this.outside);
    }
    for (const peer of PEERS) await this.neighbour(peer);
    const notes = join(this.directory, "notes");
    mkdirSync(notes);
    for (const name of ["state.json", "exec.fifo", "pid"]) writeFileSync(join(notes, name), "somebody else's\n");
    this.cgroups = this.foreignCgroups();
    this.files = this.foreignFiles();
  }

  private async start(name: string, place: string): Promise<void> {
    const { pid } = await this.witnesses.start(name);
    enterPlace(place, pid);
  }

  private async neighbour(peer: string): Promise<void> {
    const name = `neighbour-${peer.slice(-4)}`;
    const bundle = writeBundle({
      directory: join(this.directory, name),
      rootfs: this.rootfs,
      share: this.witnesses.directory,
      name,
      kind: "deaf",
      cgroupsPath: `${this.base}/${name}`,
    });
    const { status, stderr } = await this.peer(peer, ["run", "--detach", "-b", bundle, name]);
    if (status !== 0) throw new Error(`${peer}: ${stderr}`);
    for (const end = Date.now() + PATIENCE_MS; !this.witnesses.get(name); ) {
      if (Date.now() > end) throw new Error(`${name} has not begun`);
      await new Promise((done) => setTimeout(done, 5));
    }
  }

  private peer(peer: string, args: readonly string[]) {
    return call(this.directory, peerCommand(peer, ["--root", this.stateOf(peer), ...args]));
  }

  private stateOf(peer: string): string {
    return join(this.directory, `state-${peer.slice(-4)}`);
  }

  /** State directories of other runtimes, and the name of the container in each. */
  neighbours(): readonly (readonly [directory: string, name: string])[] {
    return PEERS.map((peer) => [this.stateOf(peer), `neighbour-${peer.slice(-4)}`]);
  }

  private foreignFiles(): readonly string[] {
    return [join(this.directory, "notes"), ...this.neighbours().map(([directory, name]) => join(directory, name))].flatMap(fileTree);
  }

  private foreignCgroups(): readonly string[] {
    const kept = Array.from({ length: KEPT_SLOTS }, (_, slot) => identities([this.place(slot)], this.hierarchiesOf(slot)));
    return [...identities([this.base, this.outside, `${this.base}/neighbour-runc`]), ...kept.flat()];
  }

  /** Somebody comes into a cgroup that was there before; or, with systemd, into a unit that a container may have had the name of. */
  async enter(slot: number): Promise<void> {
    this.inside.set(slot, true);
    const visitor = this.witnesses.get(`visitor-${slot}`)!;
    enterPlace(this.place(slot), visitor.pid, this.hierarchiesOf(slot));
    if (!systemdRuns || this.witnesses.get(this.serviceOf(slot))?.alive) return;
    const words = ["systemd-run", "--quiet", "--scope", "--slice=system.slice", `--unit=${unitOf(this.place(slot)).unit}`];
    try {
      await this.witnesses.start(this.serviceOf(slot), { words });
    } catch {
      // A container has the name.
    }
  }

  private serviceOf(slot: number): string {
    return `service-${slot}`;
  }

  leave(slot: number): void {
    this.inside.set(slot, false);
    enterPlace(this.outside, this.witnesses.get(`visitor-${slot}`)!.pid);
    this.witnesses.get(this.serviceOf(slot))?.end();
  }

  /** Somebody gets into what may be a container's own cgroup: he can be taken for one of its processes. */
  async intrude(slot: number): Promise<void> {
    const { pid } = await this.witnesses.start(`intruder-${++this.intruders}`);
    if (slot < KEPT_SLOTS || enterPlace(this.place(slot), pid) === 0) this.witnesses.get(`intruder-${this.intruders}`)!.end();
  }

  /** What is frozen there goes on. */
  thaw(slot: number): void {
    thawPlace(this.place(slot));
  }

  dismissIntruders(): void {
    for (const one of this.witnesses.all()) if (one.name.startsWith("intruder-")) one.end();
  }

  isOne(name: string): boolean {
    return /^(root|parent|sibling|inside|visitor-|service-|neighbour-)/.test(name);
  }

  /** What has been done to them; `all`: nobody may be frozen either. */
  async harm(all = false): Promise<string | undefined> {
    for (const one of this.witnesses.all()) {
      if (!this.isOne(one.name) || !one.alive) continue;
      const mayBeFrozen = !all && /^(visitor|service)-/.test(one.name);
      if (!mayBeFrozen && !(await one.answers(PATIENCE_MS))) return `${one.name} does not answer`;
    }
    const cgroups = this.foreignCgroups();
    const changed = cgroups.flatMap((line, index) => (line === this.cgroups[index] ? [] : [`${this.cgroups[index]} is now ${line}`]));
    if (changed.length > 0) return `${changed.length} of ${cgroups.length} cgroups have changed: ${changed.slice(0, SHOWN).join(", ")}`;
    const files = this.foreignFiles();
    return files.join() === this.files.join()
      ? undefined
      : `files have changed: ${files.filter((line) => !this.files.includes(line)).join(", ")}`;
  }

  async dismissNeighbours(): Promise<void> {
    for (const peer of PEERS) await this.peer(peer, ["delete", "--force", `neighbour-${peer.slice(-4)}`]);
  }

  /** Once every witness has ended. Processes that are left in the cgroups are killed: they are the walk's own. */
  async removeTraces(): Promise<void> {
    await removePlace(this.base);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
