import { expect, test } from "vitest";
import { taskSchema } from "../../engine/spec/index.ts";
import { type RunOptions, taskText } from "./task-text.ts";

const parsed = (options: Partial<RunOptions>, ...command: string[]) => JSON.parse(taskText({ image: "oci:/i", ...options }, "t", command));

test("what is not said is not in the task", () => {
  const text = parsed({});
  expect(text).toEqual({
    name: "t",
    remember: false,
    network: {},
    containers: [{ name: "main", image: "oci:/i", pullPolicy: "prefer-cached" }],
  });
  expect(taskSchema.safeParse(text).success).toBe(true);
});

test("who is in the background and to be removed is kept for no time", () => {
  expect(parsed({ detach: true, rm: true })).toMatchObject({ retention: "0s" });
  for (const options of [{ detach: true }, { rm: true }] as const) expect(parsed(options)).not.toHaveProperty("retention");
});

test("a command is the arguments of the image; an entrypoint takes the place of its program", () => {
  expect(parsed({}, "ls", "-l").containers[0]).toMatchObject({ args: ["ls", "-l"] });
  expect(parsed({ entrypoint: "/bin/sh" }, "-c", "id").containers[0]).toMatchObject({ command: "/bin/sh", args: ["-c", "id"] });
});

test.each([
  ["8080:80", { container: 80, host: 8080 }],
  ["53/udp", { container: 53, protocol: "udp" }],
  ["127.0.0.1:8080:80", { container: 80, host: 8080, address: "127.0.0.1" }],
  ["[::1]:8080:80/tcp", { container: 80, host: 8080, protocol: "tcp", address: "::1" }],
])("port %s", (text, port) => {
  const task = parsed({ publish: [text] });
  expect(task.network.ports).toEqual([port]);
  expect(taskSchema.safeParse(task).success).toBe(true);
});

test.each(["x", "a:80:80", "80:", "8080:80/sctp", "1:2:3:4"])("port %s is refused", (text) => {
  expect(() => parsed({ publish: [text] })).toThrow(/use \[ADDRESS:\]HOST:CONTAINER/);
});

test("directories of the host and volumes by name", () => {
  const task = parsed({ volume: ["/srv:/data:ro", "cache:/cache", "cache:/more"] });
  expect(task.containers[0].mounts).toEqual([
    { source: "/srv", target: "/data", readOnly: true },
    { volume: "cache", target: "/cache" },
    { volume: "cache", target: "/more" },
  ]);
  expect(task.volumes).toEqual([{ name: "cache", kept: "cache" }]);
  for (const text of ["/srv", "/srv:data", "/srv:/data:rx", "a:/b:ro:x"])
    expect(() => parsed({ volume: [text] })).toThrow(/use SOURCE:TARGET/);
});

test("variables of the command line, and of this process by their names", () => {
  process.env["RUN_TEST"] = "from here";
  expect(parsed({ env: ["A=b=c", "RUN_TEST"] }).containers[0].env).toEqual({ A: "b=c", RUN_TEST: "from here" });
  expect(() => parsed({ env: ["RUN_TEST_NOT_SET"] })).toThrow(/-e RUN_TEST_NOT_SET/);
});
