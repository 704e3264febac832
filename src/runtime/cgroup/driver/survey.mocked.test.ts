/** The init of a container may end while its directories are looked at. */
import { beforeEach, expect, it, vi } from "vitest";

const INIT = 42;
const FOREIGN = 7;

let init = 0;
let endsIn = 0;

vi.mock("../../host/index.ts", () => ({
  getpid: () => 1,
  stat: () => ({ dev: 1n, ino: 2n }),
  isErrno: () => false,
}));
vi.mock("../hierarchies.ts", () => ({ readHierarchies: () => ({ hierarchies: [] }) }));
vi.mock("./mark.ts", () => ({ markFor: () => "none" }));
vi.mock("./where.ts", () => ({ directoryOf: () => undefined }));
vi.mock("./processes.ts", () => ({
  census() {
    const pids = new Set(init > 0 ? [INIT, FOREIGN] : [FOREIGN]);
    endsIn--;
    if (endsIn === 0) init = 0;
    return { pids, unseen: 0, failure: undefined };
  },
}));

const { survey } = await import("./survey.ts");

const KEPT = { version: 1, paths: ["/a/x", "/b/x"], kept: ["/a/x", "/b/x"] } as const;
const OWNER = { mark: { id: "c" }, init: () => init };

beforeEach(() => {
  init = INIT;
});

it.each([1, 2])("an init that ends after directory %i was read is no process of somebody else", (count) => {
  endsIn = count;
  const { own, others } = survey(KEPT, OWNER);
  expect([[...own], [...others]]).toEqual([[], [FOREIGN]]);
});

it("an init that lives is the container's, also in a directory of somebody else", () => {
  endsIn = 0;
  const { own, others } = survey(KEPT, OWNER);
  expect([[...own], [...others]]).toEqual([[INIT], [FOREIGN]]);
});
