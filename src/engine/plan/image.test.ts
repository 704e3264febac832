import { expect, test } from "vitest";
import { type ContainerSpec, type ImageConfig, taskSchema } from "../spec/index.ts";
import { imageProcess, imageVolumes } from "./image.ts";

const IMAGE: ImageConfig = {
  ...{
    os: "linux",
    architecture: "amd64",
    env: ["A=image", "PATH=/p", "broken", "A=last"],
    entrypoint: ["/entry", "-x"],
    cmd: ["default"],
  },
  ...{ user: "web", cwd: "/srv", stopSignal: null, volumes: ["/data/", "/", "/own"], healthCheck: null, diffIds: [] },
};
const container = (fields: object): ContainerSpec =>
  taskSchema.parse({ name: "t", containers: [{ name: "c", image: "oci:/i", ...fields }] }).containers[0]!;

test.each([
  [{}, ["/entry", "-x", "default"]],
  [{ args: ["mine"] }, ["/entry", "-x", "mine"]],
  [{ imageEntrypoint: false }, ["default"]],
  [{ imageEntrypoint: false, args: ["mine", "x"] }, ["mine", "x"]],
  [{ command: "sh" }, ["sh"]],
  [{ command: "sh", args: ["-c", "true"] }, ["sh", "-c", "true"]],
])("%j runs %j", (fields, line) => {
  const { cmd, args } = imageProcess(container(fields), IMAGE)!;
  expect([cmd, ...args]).toEqual(line);
});

test("the task's words come before the image's, and those before the engine's", () => {
  expect(imageProcess(container({}), IMAGE)).toMatchObject({ env: { A: "last", PATH: "/p" }, cwd: "/srv", user: "web" });
  const said = { env: { A: "task", B: "b" }, cwd: "/", user: "0" };
  expect(imageProcess(container(said), IMAGE)).toMatchObject({ ...said, env: { A: "task", B: "b", PATH: "/p" } });
  expect(imageProcess(container({}), { ...IMAGE, cwd: null, user: null })).toMatchObject({ cwd: "/", user: "0" });
  expect(imageProcess(container({}), { ...IMAGE, entrypoint: [], cmd: [] })).toBeUndefined();
  expect(imageProcess(container({ imageEntrypoint: false }), { ...IMAGE, cmd: [] })).toBeUndefined();
});

test("volumes that the task mounts itself are the task's", () => {
  expect(imageVolumes(container({}), IMAGE)).toEqual(["/data", "/own"]);
  expect(imageVolumes(container({ mounts: [{ source: "/x", target: "/own/" }] }), IMAGE)).toEqual(["/data"]);
});
