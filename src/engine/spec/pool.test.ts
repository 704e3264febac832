import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parseTasks, specDigest, taskJsonSchema } from "./index.ts";

const task = "name: t\ncontainers: [{ name: c, rootfs: /r, command: x }]\n";
const pool = "kind: Pool\nname: py\nrootfs: /r\nsize: 3\n";

test("a file may have pools and tasks, in any order; a pool has defaults", () => {
  const { tasks, pools, findings } = parseTasks(`---\n${pool}---\n${task}---\n`);
  expect([tasks.map(({ name }) => name), pools?.map(({ name }) => name), findings]).toEqual([["t"], ["py"], []]);
  expect(pools?.[0]).toMatchObject({
    memory: 2 ** 27,
    cpus: 1,
    pids: 64,
    disk: 2 ** 26,
    deadline: 10_000,
    outputSize: 2 ** 20,
    network: "none",
  });
  expect(parseTasks(pool)).toMatchObject({ tasks: [], findings: [] });
  expect(parseTasks(task)).not.toHaveProperty("pools");
});

test.each([
  ["size: 0", "4:1: /size: has to be at least 1"],
  ["size: 3\nimage: docker://h/n:v", "3:1: /rootfs: a pool has either an image or a rootfs"],
  ["size: 3\npullPolicy: once", "5:1: /pullPolicy: needs an image"],
  ["size: 3\npullCredentials: x", "5:1: /pullCredentials: needs an image"],
  ["size: 3\nargs: [a]", "5:1: /args: needs a command"],
  ["size: 3\nnetwork: host", '5:1: /network: expected "none"'],
  ["size: 3\nprivileged: true", '5:1: /privileged: the field "privileged" is not supported'],
  ["size: 3\ndeadline: 0", "5:1: /deadline: use 1ms to 24 days"],
  ["size: 3\noutputSize: 2Gi", "5:1: /outputSize: use at most 1Gi"],
])("what a pool cannot be is told with its place: %j", (lines, finding) => {
  const { tasks, pools, findings } = parseTasks(`${pool.replace("size: 3", lines)}---\n${task}`);
  const told = findings.map(({ line, column, pointer, message }) => `${line}:${column}: ${pointer}: ${message}`);
  expect([tasks, pools, told]).toEqual([[], [], [expect.stringContaining(finding)]]);
});

test("two pools of one name, and errors of tasks beside pools", () => {
  expect(parseTasks(`${pool}---\n${pool}`).findings).toMatchObject([{ code: "duplicate-name", line: 7 }]);
  expect(parseTasks(`${pool}---\n${task}nonsense: 1\n`)).toMatchObject({ tasks: [], pools: [], findings: [{ line: 8 }] });
});

test("the JSON Schema takes pools and tasks, and tells which one a document is", () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(taskJsonSchema());
  expect(validate({ kind: "Pool", name: "py", rootfs: "/r", size: 1, deadline: "5s" })).toBe(true);
  expect(validate({ kind: "Pool", name: "py", rootfs: "/r" })).toBe(false);
  expect(validate({ kind: "Pod", name: "py", rootfs: "/r", size: 1 })).toBe(false);
});

test("the digest of a pool does not see how it is written", () => {
  const digestOf = (text: string) => specDigest(parseTasks(text).pools![0]!);
  expect(digestOf(`${pool}memory: 128Mi\n`)).toBe(digestOf(pool));
  expect(digestOf(`${pool}memory: 64Mi\n`)).not.toBe(digestOf(pool));
});
