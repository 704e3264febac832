/** The walk over a hostile host: batches of steps, and after each of them the question who was harmed and what did not return. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SLOW } from "../../support/harness.ts";
import { CGROUP_PARENT } from "../../support/leaks.ts";
import { DELEGATED } from "../../support/places.ts";
import { Bystanders } from "./bystanders.ts";
import { BOUND_MS, type Call, Calls } from "./calls.ts";
import { actedOnCopy, isExplained, mayWait, waitsForReader } from "./judge.ts";
import { Readers } from "./readers.ts";
import { containersOf, copy, damage, lose } from "./records.ts";
import { makeRoots, type Root } from "./roots.ts";
import {
  COPY_ROOT,
  damageOf,
  isVerb,
  KEPT_SLOTS,
  OWN_ROOTS,
  SIGNALS,
  type Step,
  stepText,
  type VerbStep,
  type WorldStep,
} from "./steps.ts";
import { Treasures } from "./treasures.ts";
import { type Observation, Witnesses } from "./witnesses.ts";

/** For what may wait, before the walk goes on without it. */
const GRACE_MS = 300;
/** How late a process may tell of a signal. */
const SLACK_MS = 10_000 * SLOW;
/** Batches until what waits is told to end, and until a stopped monitor is woken. */
const WAITING_BATCHES = 3;
const STOPPED_BATCHES = 5;
const FOREGROUND_BATCHES = 8;
/** Until the walk ends what nobody knows of: it keeps its cgroup from others. */
const LOST_BATCHES = 6;
const WAKE_MS = 500 * SLOW;
const TERM_MS = 1_000 * SLOW;
const DEATH_MS = 3_000 * SLOW;

export class World {
  private readonly witnesses: Witnesses;
  private readonly bystanders: Bystanders;
  private readonly calls: Calls;
  private readonly treasures: Treasures;
  private readonly readers: Readers;
  /** Numbers of the calls whose containers have lost their record, so that nobody knows of them any more; and for how many batches yet they are left alone. */
  private readonly lost = new Map<number, number>();
  private readonly roots: Root[] = [];
  private background: Call[] = [];

  constructor(directory: string, rootfs: string, name: string) {
    const own = join(directory, name);
    mkdirSync(own);
    this.witnesses = new Witnesses(join(own, "w"));
    this.bystanders = new Bystanders({
      witnesses: this.witnesses,
      directory: join(own, "by"),
      rootfs,
      base: `${DELEGATED}${CGROUP_PARENT}/${name}`,
    });
    mkdirSync(join(own, "by"));
    const place = (slot: number) => this.bystanders.place(slot);
    this.treasures = new Treasures(join(own, "treasure"));
    this.readers = new Readers(join(own, "readers"), join(this.treasures.directory, "file"));
    this.calls = new Calls({ directory: own, rootfs, witnesses: this.witnesses, readers: this.readers, roots: this.roots, place });
    this.directory = own;
  }

  private readonly directory: string;

  async begin(): Promise<void> {
    await this.witnesses.listen();
    await this.readers.begin();
    const foreign = { neighbours: this.bystanders.neighbours(), directory: this.treasures.root };
    this.roots.push(...(await makeRoots(this.directory, this.witnesses, foreign)));
    await this.bystanders.gather();
    const undisturbed = { root: 0, id: "first", slot: KEPT_SLOTS, kind: "polite", fate: [], together: false } as const;
    await this.calls.measure({ ...undisturbed, verb: "create" });
    await this.remove(undisturbed.root, undisturbed.id);
    this.witnesses.taken();
  }

  summary(): string {
    return this.calls.summary();
  }

  /** What went wrong; undefined: nothing. */
  async perform(batch: readonly Step[]): Promise<string | undefined> {
    const verbs = batch.filter(isVerb);
    for (const step of batch) if (!isVerb(step)) await this.act(step);
    const begun = await Promise.all(verbs.map((step) => this.calls.begin(step)));
    return (await this.await(begun)) ?? (await this.age()) ?? (await this.judge());
  }

  private async act(step: WorldStep): Promise<void> {
    const { act, slot } = step;
    switch (act) {
      case "enter":
        return this.bystanders.enter(slot);
      case "leave":
        return this.bystanders.leave(slot);
      case "intrude":
        return this.bystanders.intrude(slot);
      case "stop":
        return this.stop();
      case "wake":
        return this.wake();
      case "link":
        return this.treasures.link(this.rootOf(slot), `h${Math.floor(slot / OWN_ROOTS)}`);
      case "foreign":
        return this.treasures.place(this.rootOf(slot), `foreign-${slot}`);
      case "copy":
        return copy(this.rootOf(slot), this.roots[COPY_ROOT]!);
      case "lose":
      case "damage":
        return this.harmRecord(step);
    }
  }

  private rootOf(slot: number): Root {
    return this.roots[slot % OWN_ROOTS]!;
  }

  /** Also in the copy. */
  private harmRecord(step: WorldStep): void {
    const root = step.slot % (OWN_ROOTS + 1);
    const id = `h${Math.floor(step.slot / (OWN_ROOTS + 1))}`;
    const [entry, way] = damageOf(step);
    const others = this.roots.slice(0, COPY_ROOT);
    const setting = { treasure: this.treasures.directory, others };
    const isLost =
      step.act === "lose" ? lose(this.roots[root]!, id) : damage(this.roots[root]!, id, [entry, way], setting) && entry === "state.json";
    if (isLost) for (const call of this.calls.all) if (call.root === root && call.id === id) this.lost.set(call.number, LOST_BATCHES);
  }

  /** Of a container of which nobody knows: the walk ends it. */
  private release(call: Call): void {
    this.bystanders.thaw(call.step.slot);
    for (const { name, end } of this.witnesses.all()) if (name === `c-${call.number}` || name === `c-${call.number}.child`) end();
  }

  private stop(): void {
    const monitor = this.monitor(false);
    if (monitor) this.calls.signal(monitor, SIGNALS.STOP);
  }

  /** What it does then, it does at once. */
  private async wake(): Promise<void> {
    const monitor = this.monitor(true);
    if (!monitor) return;
    this.calls.signal(monitor, SIGNALS.CONT);
    await this.calls.settle(monitor, WAKE_MS);
  }

  private monitor(stopped: boolean): Call | undefined {
    return this.background.find(({ verb, isStopped }) => verb === "run" && isStopped === stopped);
  }

  /** Those that may wait are left in the background. */
  private async await(begun: readonly Call[]): Promise<string | undefined> {
    const waiting = begun.filter((call) => mayWait(call, this.calls.all));
    for (const call of begun) {
      if (waiting.includes(call)) continue;
      const wrong = await this.returns(call);
      if (wrong !== undefined) return wrong;
    }
    for (const call of waiting) if (!(await this.calls.settle(call, GRACE_MS))) this.background.push(call);
    return this.ended(waiting);
  }

  private async returns(call: Call): Promise<string | undefined> {
    if (await this.calls.settle(call, BOUND_MS)) return this.ended([call]);
    call.witness.kill(SIGNALS.KILL);
    return `${stepText(call.step)}: has not returned after ${BOUND_MS / 1000} s: ${this.calls.output(call)}`;
  }

  private ended(calls: readonly Call[]): string | undefined {
    for (const call of calls) {
      if (call.ended === undefined) continue;
      this.calls.forget(call);
      const crash = this.calls.crash(call);
      if (crash !== undefined) return `${stepText(call.step)}: ${crash}`;
      if (call.root === COPY_ROOT && actedOnCopy(call, this.calls.all))
        return `${stepText(call.step)}: says success for a container of another root`;
    }
    return undefined;
  }

  /** What has waited for long enough is told to end, and has to. */
  private async age(): Promise<string | undefined> {
    for (const [number, left] of this.lost) {
      this.lost.set(number, left - 1);
      if (left === 0) this.release(this.calls.all[number]!);
    }
    for (const call of [...this.background]) {
      call.age++;
      if (call.isStopped && call.age % STOPPED_BATCHES === 0) this.calls.signal(call, SIGNALS.CONT);
      const isOver = call.age >= (call.verb === "run" ? FOREGROUND_BATCHES : WAITING_BATCHES);
      const wrong = (await this.calls.settle(call, 0)) ? this.ended([call]) : isOver ? await this.end(call) : undefined;
      if (call.ended !== undefined || wrong !== undefined) this.background = this.background.filter((one) => one !== call);
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  }

  /** A foreground run ends with its container, an exec with it at the latest, a detached one by itself, everything else by TERM. */
  private async end(call: Call): Promise<string | undefined> {
    if (call.isStopped) this.calls.signal(call, SIGNALS.CONT);
    if (this.lost.has(call.number)) this.release(call);
    // It waits for no program, only for what the container may stop: for that it has a bound of its own.
    if (call.verb === "exec --detach" && !waitsForReader(call)) return this.returns(call);
    if (call.verb !== "run") {
      this.calls.signal(call, SIGNALS.TERM);
      if ((await this.calls.settle(call, TERM_MS)) || call.verb !== "exec") return this.returns(call);
    }
    // It hands signals on to a program, which may not listen.
    const wrong = await this.remove(call.root, call.id);
    if (wrong !== undefined || (await this.calls.settle(call, DEATH_MS))) return wrong ?? this.ended([call]);
    this.calls.signal(call, SIGNALS.TERM);
    return this.returns(call);
  }

  private async remove(root: number, id: string): Promise<string | undefined> {
    const step: VerbStep = { verb: "delete --force", root, id, slot: 0, kind: "polite", fate: [], together: false };
    return this.returns(await this.calls.begin(step));
  }

  private async judge(): Promise<string | undefined> {
    const harm = await this.bystanders.harm();
    for (const observation of this.witnesses.taken()) {
      const wrong = this.unexplained(observation);
      if (wrong !== undefined) return wrong;
    }
    return harm ?? this.treasures.harm();
  }

  private unexplained({ name, began, at, what }: Observation): string | undefined {
    if (this.bystanders.isOne(name) || name.startsWith("call-")) return `${name} has seen ${what}`;
    const number = /^c-(\d+)/.exec(name)?.[1];
    if (number === undefined) return undefined;
    // The kernel tells it of the end of its terminal.
    if (this.calls.all[Number(number)]?.step.reader?.startsWith("console") && /^signal (1|18) from process 0$/.test(what)) return undefined;
    if (isExplained({ container: Number(number), began, at }, this.calls.all, SLACK_MS)) return undefined;
    const own = this.calls.all[Number(number)]!;
    return `the container of "${stepText(own.step)}" (${name}) has seen ${what}, and nobody meant it`;
  }

  /** The end of the walk: everything can be removed, and nothing that is somebody else's was. */
  async finish(): Promise<string | undefined> {
    this.bystanders.dismissIntruders();
    for (const call of this.background) if (call.isStopped) this.calls.signal(call, SIGNALS.CONT);
    const made = new Map(this.calls.all.map(({ root, id }): [string, readonly [number, string]] => [`${root} ${id}`, [root, id]]));
    // The copies come last: a container of which there is a copy runs until then.
    for (const [root, id] of [...made.values()].sort(([one], [other]) => one - other)) {
      const wrong = await this.remove(root, id);
      if (wrong !== undefined) return wrong;
    }
    for (const call of this.background) {
      const wrong = (await this.calls.settle(call, DEATH_MS)) ? undefined : await this.end(call);
      if (wrong !== undefined) return wrong;
    }
    this.background = [];
    return (await this.judge()) ?? (await this.bystanders.harm(true)) ?? this.survivors() ?? (await this.left());
  }

  /** What is left below the roots is what runt says that it does not remove. */
  private async left(): Promise<string | undefined> {
    for (const [index, root] of this.roots.slice(0, COPY_ROOT + 1).entries()) {
      for (const id of containersOf(root)) {
        const step: VerbStep = { verb: "delete --force", root: index, id, slot: 0, kind: "polite", fate: [], together: false };
        const call = await this.calls.begin(step);
        const wrong = await this.returns(call);
        if (wrong !== undefined) return wrong;
        const isThere = containersOf(root).includes(id);
        const said = this.calls.output(call);
        if (isThere && !/nothing was removed|of which .* is a copy/.test(said))
          return `${root.path}/${id} is left, and delete --force says ${said || "success"}`;
      }
    }
    return undefined;
  }

  /** In a cgroup that others share, only the first process of a container can be told from them. */
  private survivors(): string | undefined {
    const left = this.witnesses.all().filter(({ name, alive }) => alive && /^c-\d+$/.test(name) && !this.lost.has(Number(name.slice(2))));
    return left.length === 0 ? undefined : `after delete --force there still are ${left.map(({ name }) => name).join(", ")}`;
  }

  /** Whatever goes wrong in between, nothing of the walk stays. */
  async close(): Promise<void> {
    for (const call of this.background) call.witness.kill(SIGNALS.KILL);
    await this.bystanders.dismissNeighbours();
    this.readers.close();
    await this.witnesses.close();
    await this.bystanders.removeTraces();
  }
}
