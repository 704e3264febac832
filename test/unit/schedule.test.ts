import { describe, expect, it } from "vitest";
import { type CompileInput, compile, type Op } from "../../src/runtime/plan/index.ts";
import { cleanPath } from "../../src/runtime/spec/index.ts";
import { MESSAGES, type OpArgs, type OpName } from "../../src/shared/protocol/index.ts";
import { type Declaration, isDeviceRule, NEEDS, type Resource } from "../support/operation-needs.ts";
import { planInput } from "../support/plan-inputs.ts";

const SEEDS = 250;
const inputs = Array.from({ length: SEEDS }, (_, seed) => planInput(seed));

interface Pair {
  readonly natural: readonly Op[];
  readonly scheduled: readonly Op[];
}

const pairs = inputs.map((input): Pair => ({ natural: compile(input, "natural").ops, scheduled: compile(input).ops }));
const failures = (check: (pair: Pair) => readonly string[]): string[] =>
  pairs.flatMap((pair, seed) => check(pair).map((text) => `seed ${seed}: ${text}`)).slice(0, 5);

const named = ({ op, actor, from, args }: Op): string =>
  `${op} ${from} ${JSON.stringify(args, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value))} ${actor === "runtime" ? actor : ""}`;
/** By what an operation is: the same one in both orders. */
const numbered = (ops: readonly Op[]): ReadonlyMap<string, number> => {
  const seen = new Map<string, number>();
  return new Map(
    ops.map((op, index) => {
      const count = seen.get(named(op)) ?? 0;
      seen.set(named(op), count + 1);
      return [`${named(op)} ${count}`, index];
    }),
  );
};

const declared = (op: Op): Declaration<OpName> => NEEDS[op.op] as Declaration<OpName>;
const resources = (list: Declaration<OpName>["needs"], { args }: Op): readonly Resource[] =>
  typeof list === "function" ? list(args as OpArgs<OpName>) : (list ?? []);
const seesTree = (op: Op): boolean => declared(op).seesTree?.(op.args as OpArgs<OpName>) ?? false;
const placeOf = (op: Op): string | undefined => {
  const { place } = declared(op);
  return place && cleanPath(place(op.args as OpArgs<OpName>));
};

/** What comes right before each operation: the one before it of its actor, and what it waits for. */
function precedence(ops: readonly Op[]): readonly number[][] {
  const find = (test: (op: Op) => boolean): number => ops.findIndex(test);
  const message = (op: Op): number => ("message" in op.args ? op.args.message : -1);
  const sender: Readonly<Record<number, (op: Op) => boolean>> = {
    [MESSAGES.pid]: ({ op }) => op === "process.clone",
    [MESSAGES.console]: ({ op }) => op === "console.open",
    [MESSAGES.listener]: ({ op }) => op === "seccomp.load",
  };
  const last: Partial<Record<Op["actor"], number>> = {};
  return ops.map((op, index) => {
    const before: number[] = [];
    const own = last[op.actor];
    if (own !== undefined) before.push(own);
    else if (op.actor === "intermediate") before.push(find((other) => other.op === "helper.spawn"));
    else if (op.actor === "init") before.push(find((other) => other.op === "process.clone"));
    last[op.actor] = index;
    if (op.op === "sync.wait") {
      const sends =
        sender[message(op)] ?? ((other: Op) => other.op === "sync.send" && other.actor !== op.actor && message(other) === message(op));
      before.push(find(sends));
    }
    if (op.op === "seccomp.receive") before.push(find((other) => other.op === "seccomp.send"));
    if (op.op === "cgroup.openTree" && op.args.made > 0) {
      // The v2 directory of a hybrid host is not counted.
      const isCounted = ({ op: name, args }: Op) =>
        name === "cgroup.create" && !(args as OpArgs<"cgroup.create">).path.includes("/unified/");
      const made = ops.flatMap((other, at) => (isCounted(other) ? [at] : []));
      before.push(made[op.args.made - 1] ?? -1);
    }
    return before;
  });
}

/** For each operation all that is over when it begins; undefined: somebody waits for what comes only behind him, or for nothing. */
function happened(ops: readonly Op[]): readonly ReadonlySet<number>[] | undefined {
  const before = precedence(ops);
  const done = new Map<number, Set<number>>();
  for (let left = ops.length; done.size < ops.length; left--) {
    if (left < 0) return undefined;
    for (let index = 0; index < ops.length; index++) {
      const own = before[index]!;
      if (done.has(index) || !own.every((one) => done.has(one))) continue;
      done.set(index, new Set(own.flatMap((one) => [one, ...done.get(one)!])));
    }
  }
  return ops.map((_, index) => done.get(index)!);
}

/** What of an order breaks a need; an operation is to have the providers that are before it in the natural order. */
function broken({ natural, scheduled: order }: Pair): string[] {
  const over = happened(order);
  if (!over) return ["somebody waits for ever"];
  const places = numbered(order);
  const given = new Map<Resource, number[]>();
  const ends = order.flatMap((op, index) => (declared(op).ends ?? []).map((resource) => ({ resource, index })));
  return [...numbered(natural)].flatMap(([key, at]) => {
    const op = natural[at]!;
    const index = places.get(key)!;
    const lost = resources(declared(op).needs, op).filter(
      (resource) =>
        given.get(resource)?.some((one) => !over[index]!.has(one)) ||
        ends.some((end) => end.resource === resource && over[index]!.has(end.index)),
    );
    for (const resource of resources(declared(op).provides, op)) given.set(resource, [...(given.get(resource) ?? []), index]);
    return lost.map((resource) => `${op.actor} ${op.op} ${op.from} has no ${resource}`);
  });
}

/** What init does with devices as a member of its cgroup, while rules of v1 are still to come. */
function betweenRules({ scheduled: order }: Pair): string[] {
  const over = happened(order);
  const at = (test: (op: Op) => boolean): number[] => order.flatMap((op, index) => (test(op) ? [index] : []));
  const rules = at(({ op, args }) => op === "cgroup.write" && isDeviceRule((args as OpArgs<"cgroup.write">).path));
  const joins = at(({ op, actor }) => op === "cgroup.join" && actor === "init");
  const uses = at((op) => op.actor === "init" && declared(op).usesDevices === true);
  return uses.flatMap((use) =>
    joins.some((join) => over?.[use]?.has(join)) && !rules.every((rule) => over?.[use]?.has(rule))
      ? [`${order[use]!.op} comes between the rules for devices`]
      : [],
  );
}

const isAbove = (one: string, other: string): boolean => one === "/" || `${other}/`.startsWith(`${one}/`);

/** Operations of init on the container's tree that have passed each other although somebody could tell. */
function passed({ natural, scheduled }: Pair): string[] {
  const places = numbered(scheduled);
  const ops = [...numbered(natural)].flatMap(([key, index]) => {
    const op = natural[index]!;
    return op.actor === "init" && (placeOf(op) !== undefined || seesTree(op)) ? [{ op, place: placeOf(op), at: places.get(key)! }] : [];
  });
  return ops.flatMap((one, index) =>
    ops.slice(index + 1).flatMap((other) => {
      if (one.at < other.at) return [];
      const text = `${other.op.op} ${other.place ?? ""} has passed ${one.op.op} ${one.place ?? ""}`;
      // What protects paths may pass the pivot: it is done in the same root.
      const isProtected = other.op.op === "path.readonly" || other.op.op === "path.mask";
      if (isProtected && one.op.op.startsWith("root.")) return [];
      // Nor can a directory be made where these are: procfs and sysfs have their own.
      if (isProtected && one.op.op === "directory.create" && /^\/(proc|sys)\//.test(other.place ?? "")) return [];
      if (one.place === undefined || other.place === undefined || isAbove(one.place, other.place) || isAbove(other.place, one.place))
        return [text];
      // No link of the image can lead from one to the other: both are below file systems that are the container's own.
      const own = ops.filter(({ op, at, place }) => op.op === "mount.filesystem" && at < other.at && place !== "/");
      const isInside = (place: string) => own.some((mount) => mount.place !== place && isAbove(mount.place!, place));
      return isInside(one.place) && isInside(other.place) ? [] : [text];
    }),
  );
}

describe(`the schedule of ${SEEDS} random plans`, () => {
  it("moves something in many, and knows every kind of move", () => {
    const moved = pairs.filter(({ natural, scheduled }) => natural.some((op, index) => op !== scheduled[index]));
    expect(moved.length).toBeGreaterThan(SEEDS / 3);
    const isBefore = (first: OpName, then: OpName) =>
      moved.some(({ scheduled }) => scheduled.findIndex(({ op }) => op === first) < scheduled.findIndex(({ op }) => op === then));
    expect(isBefore("helper.spawn", "state.intent")).toBe(true);
    expect(isBefore("path.mask", "root.pivot")).toBe(true);
    expect(isBefore("root.pivot", "cgroup.join")).toBe(true);
  });

  it("has the operations of the natural order, each once", () => {
    expect(failures(({ natural, scheduled }) => (sorted(natural) === sorted(scheduled) ? [] : ["other operations"]))).toEqual([]);
  });

  it("keeps what one part of the plan has of a kind in its order", () => {
    const kinds = (ops: readonly Op[]): string => {
      const lists = new Map<string, string[]>();
      for (const op of ops) {
        if (isMessage(op)) continue;
        const kind = `${op.phase} ${op.op}`;
        lists.set(kind, [...(lists.get(kind) ?? []), named(op)]);
      }
      return JSON.stringify([...lists].sort());
    };
    expect(failures(({ natural, scheduled }) => (kinds(natural) === kinds(scheduled) ? [] : ["another order"]))).toEqual([]);
  });

  /** What a clone inherits. */
  const INHERITED: ReadonlySet<OpName> = new Set(["capability.bounding"]);

  it("hands over from intermediate to init, and back only what init inherits", () => {
    expect(
      failures(({ natural, scheduled }) => {
        const places = numbered(scheduled);
        return [...numbered(natural)].flatMap(([key, index]) => {
          const { actor: before, op } = natural[index]!;
          const after = scheduled[places.get(key)!]!.actor;
          if (before === "init" && after === "intermediate") return INHERITED.has(op) ? [] : [key];
          return before === after || (before === "intermediate" && after === "init") ? [] : [key];
        });
      }),
    ).toEqual([]);
  });

  it("is the same every time, and leaves the natural order as it is", () => {
    const again = (input: CompileInput) => JSON.stringify(compile(input).ops.map(named));
    const changed = inputs.filter((input, seed) => again(input) !== JSON.stringify(pairs[seed]!.scheduled.map(named)));
    expect(changed).toEqual([]);
  });

  it("gives every operation what it needs", () => expect(failures(broken)).toEqual([]));

  it("gives it in the natural order, too", () => {
    expect(failures(({ natural }) => broken({ natural, scheduled: natural }))).toEqual([]);
  });

  it("lets init use no device while it is under a part of the rules for devices", () => {
    expect(failures(betweenRules)).toEqual([]);
    expect(
      pairs.some(({ scheduled }) =>
        scheduled.some(({ op, args }) => op === "cgroup.write" && isDeviceRule((args as OpArgs<"cgroup.write">).path)),
      ),
    ).toBe(true);
  });

  it("lets nothing pass that somebody could see", () => expect(failures(passed)).toEqual([]));

  it("lets the helper wait for messages in the order in which they are sent", () => {
    const messages = (ops: readonly Op[], actors: readonly Op["actor"][], kind: OpName) =>
      ops.flatMap(({ op, actor, args }) => (op === kind && actors.includes(actor) && "message" in args ? [args.message] : []));
    const check = (ops: readonly Op[]) => {
      const [sent, waited] = [messages(ops, ["runtime"], "sync.send"), messages(ops, ["intermediate", "init"], "sync.wait")];
      return JSON.stringify(sent) === JSON.stringify(waited) ? [] : [`sent ${sent}, waited for ${waited}`];
    };
    expect(failures(({ natural, scheduled }) => [...check(natural), ...check(scheduled)])).toEqual([]);
  });
});

function isMessage({ op }: Op): boolean {
  return op === "sync.send" || op === "sync.wait";
}

function sorted(ops: readonly Op[]): string {
  return JSON.stringify(ops.map(named).sort());
}
