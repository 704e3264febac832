import { beforeEach, expect, it, vi } from "vitest";

let release = "";
let line: string | undefined;
const read: string[] = [];

vi.mock("../../host/index.ts", () => ({
  kernelRelease: () => release,
  access: () => true,
  readLine(path: string) {
    read.push(path);
    return line;
  },
}));

/** As a process starts: on one kernel. */
async function onKernel(name: string) {
  release = name;
  vi.resetModules();
  return await import("./freeze.ts");
}

const V1 = { version: 1, paths: ["/cpu/x", "/freezer/x"] } as const;
const V2 = { version: 2, paths: ["/x"] } as const;

beforeEach(() => read.splice(0));

it.each([
  ["6.1.0", "S"],
  ["6.1", "S"],
  ["6.1.0-rc1", "S"],
  ["6.18.44-fc-v595", "S"],
  ["6.10.3", "S"],
  ["10.0.1", "S"],
  ["6.0.19", ""],
  ["5.10.0-28-amd64", ""],
  ["5.100.0", ""],
  ["4.4.0", ""],
  ["6", ""],
  ["6.x", ""],
  ["six.one", ""],
  ["", ""],
])("what %s shows of a process that v1 has frozen is never among '%s'", async (name, letters) => {
  expect((await onKernel(name)).awakeStatesOf(name)).toBe(letters);
});

it("rules out without reading what is in S on v1", async () => {
  line = "FROZEN";
  const { isFrozenToShow } = await onKernel("6.1.0");
  expect(isFrozenToShow(V1, "S")).toBe(false);
  expect(read).toEqual([]);
});

it.each(["R", "D", "T", "t", "I", "?"])("reads for one in %s", async (state) => {
  const { isFrozenToShow } = await onKernel("6.1.0");
  for (const [text, expected] of [
    ["FROZEN", true],
    ["FREEZING", true],
    ["THAWED", false],
  ] as const) {
    line = text;
    expect(isFrozenToShow(V1, state)).toBe(expected);
  }
  expect(read).toEqual(Array(3).fill("/freezer/x/freezer.state"));
});

it("reads on v2 and on older kernels, whatever the state", async () => {
  line = "1";
  expect((await onKernel("6.18.0")).isFrozenToShow(V2, "S")).toBe(true);
  line = "FROZEN";
  expect((await onKernel("6.0.0")).isFrozenToShow(V1, "S")).toBe(true);
  expect(read).toEqual(["/x/cgroup.freeze", "/freezer/x/freezer.state"]);
});
