import { expect, test } from "vitest";
import { checkTask, parseImageConfig, taskSchema } from "../spec/index.ts";
import { checkOf } from "./checks.ts";
import { newRecord } from "./index.ts";

const at = { bootId: "boot-0", bootMs: 0, wallMs: 0 };
const { healthCheck } = parseImageConfig({
  ...{ architecture: "amd64", os: "linux", rootfs: { type: "layers", diff_ids: [] } },
  config: { Healthcheck: { Test: ["CMD", "ok"], Interval: 9e9, Timeout: 3e9 } },
});

/** The check of a container whose image has one. */
function checkWith(fields: object, ofImage = healthCheck) {
  const spec = taskSchema.parse({ name: "t", containers: [{ name: "c", image: "oci:/i", ...fields }] });
  const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at });
  const image = { reference: "oci:/i", via: "current", stopSignal: null, healthCheck: ofImage } as never;
  return checkOf({ ...record, containers: record.containers.map((one) => ({ ...one, image })) }, "c", "health");
}

test("the check of an image applies, with the times of the task, unless the task says that there is none", () => {
  expect(checkWith({})).toEqual(healthCheck);
  expect(checkWith({ imageHealthCheck: { interval: "5s", retries: 7 } })).toEqual({ ...healthCheck, interval: 5000, retries: 7 });
  expect(checkWith({ imageHealthCheck: false })).toBeUndefined();
  expect(checkWith({ imageHealthCheck: { interval: "5s" } }, null)).toBeUndefined();
  expect(checkWith({ healthCheck: { command: ["x"] } })).toMatchObject({ command: ["x"], interval: 30_000 });
});

test("what is said of the check of an image needs an image without a check of the task", () => {
  const problems = (fields: object) =>
    checkTask(taskSchema.parse({ name: "t", containers: [{ name: "c", ...fields }] })).map(({ message }) => message);
  expect(problems({ image: "oci:/i", imageHealthCheck: false })).toEqual([]);
  expect(problems({ rootfs: "/r", command: "x", imageHealthCheck: false })).toEqual(["is of an image: there is none"]);
  expect(problems({ image: "oci:/i", healthCheck: { command: ["x"] }, imageHealthCheck: {} })).toEqual([
    "is of an image: healthCheck takes its place",
  ]);
});
