import { describe, expect, test } from "vitest";
import { random } from "../../../test/support/random.ts";
import { runsOf } from "../../../test/support/runs.ts";
import { divide, type Seen } from "./ownership.ts";

const SEEN: Seen = {
  path: "/sys/fs/cgroup/a",
  kept: false,
  root: false,
  holdsSelf: false,
  mark: "own",
  holdsInit: false,
  pids: new Set([10, 11]),
  unseen: 0,
};
const seen = (change: Partial<Seen>): Seen => ({ ...SEEN, ...change });
const pids = (...list: readonly number[]) => new Set(list);

test("who is in a directory with the container's mark may be signalled", () => {
  expect(divide([SEEN], 0)).toEqual({
    standing: new Map([[SEEN.path, "own"]]),
    own: pids(10, 11),
    others: pids(),
    unseen: { own: 0, others: 0 },
  });
});

test.each([
  ["was there before the container", { kept: true }],
  ["is the root of a hierarchy", { root: true }],
  ["has this process in it or below", { holdsSelf: true }],
  ["has another container's mark", { mark: "other" }],
] as const)("in one that %s init alone may be, whatever else speaks for it", (_, change) => {
  const { standing, own, others } = divide([seen({ holdsInit: true, ...change })], 10);
  expect([standing.get(SEEN.path), own, others]).toEqual(["foreign", pids(10), pids(11)]);
});

test("in one that nothing speaks for nobody may be", () => {
  expect(divide([seen({ mark: "none" })], 0)).toMatchObject({ own: pids(), others: pids(10, 11) });
  expect(divide([seen({ mark: "none", holdsInit: true })], 10)).toMatchObject({ own: pids(10, 11), others: pids() });
});

describe("several hierarchies", () => {
  const unmarked = (...list: readonly number[]) => seen({ path: "/sys/fs/cgroup/b", mark: "none", pids: pids(...list) });

  test("whom an unmarked directory has in common with the marked one is the container's, and so is the directory when it has nobody else", () => {
    expect(divide([SEEN, unmarked(10)], 0).standing.get("/sys/fs/cgroup/b")).toBe("own");
    const { standing, own, others } = divide([SEEN, unmarked(10, 99)], 0);
    expect([standing.get("/sys/fs/cgroup/b"), own, others]).toEqual(["unproven", pids(10, 11), pids(99)]);
    expect(divide([SEEN, unmarked()], 0).standing.get("/sys/fs/cgroup/b")).toBe("unproven");
    expect(divide([SEEN, { ...unmarked(10), unseen: 1 }], 0).standing.get("/sys/fs/cgroup/b")).toBe("unproven");
  });

  test("who is in a foreign one as well is left alone", () => {
    const kept = seen({ path: "/sys/fs/cgroup/c", kept: true, pids: pids(11, 12) });
    expect(divide([SEEN, kept], 0)).toMatchObject({ own: pids(10), others: pids(11, 12) });
  });
});

test("processes without a number are counted where they are", () => {
  const { unseen } = divide(
    [seen({ unseen: 2 }), seen({ path: "/b", mark: "none", unseen: 1 }), seen({ path: "/c", kept: true, unseen: 3 })],
    0,
  );
  expect(unseen).toEqual({ own: 2, others: 3 });
});

test("random records and cgroups: nobody is signalled against the law, and nobody is forgotten", () => {
  const below = random(21);
  const flip = (oneIn: number) => below(oneIn) === 0;
  const MARKS = ["own", "other", "none"] as const;
  for (let round = 0; round < runsOf(5_000); round++) {
    const self = 1;
    const init = flip(2) ? 2 : 0;
    const directories: Seen[] = Array.from({ length: 1 + below(5) }, (_, index) => {
      const members = new Set(Array.from({ length: below(6) }, () => 1 + below(9)));
      return {
        path: `/h${index}/web`,
        kept: flip(4),
        root: flip(8),
        holdsSelf: members.has(self),
        mark: MARKS[below(3)]!,
        holdsInit: init > 0 ? members.has(init) : flip(6),
        pids: members,
        unseen: flip(4) ? below(3) : 0,
      };
    });
    const { own, others, standing } = divide(directories, init);
    const isForeign = ({ kept, root, holdsSelf, mark }: Seen) => kept || root || holdsSelf || mark === "other";
    const isProven = ({ mark, holdsInit }: Seen) => mark === "own" || holdsInit;
    const said = JSON.stringify(directories, (_, value) => (value instanceof Set ? [...value] : value));
    for (const pid of own) {
      if (pid === init) continue;
      const where = directories.filter((one) => one.pids.has(pid));
      expect(where.some(isForeign), said).toBe(false);
      expect(where.some(isProven), said).toBe(true);
      expect(pid, said).not.toBe(self);
    }
    for (const one of directories) {
      if (isForeign(one)) expect(standing.get(one.path), said).toBe("foreign");
      // What is frozen, thawed, or killed as a whole has nobody in it who may not be signalled.
      if (standing.get(one.path) === "own" && !isProven(one))
        expect([...one.pids].every((pid) => own.has(pid)) && one.unseen === 0, said).toBe(true);
      if (standing.get(one.path) === "own")
        expect(
          [...one.pids].filter((pid) => !own.has(pid)),
          said,
        ).toEqual([]);
      for (const pid of one.pids) expect(own.has(pid) !== others.has(pid), said).toBe(true);
      if (isProven(one) && !isForeign(one)) {
        for (const pid of one.pids) {
          if (!directories.some((other) => other.pids.has(pid) && isForeign(other))) expect(own.has(pid), said).toBe(true);
        }
      }
    }
  }
});
