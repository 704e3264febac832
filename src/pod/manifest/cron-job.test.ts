import { expect, test } from "vitest";
import { parseFile } from "../parse-file.ts";

const HOST = { name: "host", cpus: 4, memoryBytes: 2 ** 30, images: "oci:/srv/images" };
const cronJob = (spec: object = {}, job: object = {}, pod: object = {}, metadata: object = {}) =>
  JSON.stringify({
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "backup", ...metadata },
    spec: {
      schedule: "0 3 * * *",
      ...spec,
      jobTemplate: {
        spec: {
          ...job,
          template: { spec: { restartPolicy: "OnFailure", containers: [{ name: "main", image: "app" }], ...pod } },
        },
      },
    },
  });
const read = (text: string, ignoresClusterFields = false) => parseFile(text, { ...HOST, ignoresClusterFields });
const told = (text: string) => read(text).findings.map(({ pointer, message }) => `${pointer} ${message}`);
const taskOf = (text: string) => {
  const { tasks, findings } = read(text);
  expect(findings).toEqual([]);
  expect(tasks).toHaveLength(1);
  return tasks[0]!;
};

test("a CronJob is one task with a schedule, and has the defaults of Kubernetes", () => {
  const { name, start, schedule, containers } = taskOf(cronJob());
  expect([name, start]).toEqual(["backup", "once"]);
  expect(schedule).toMatchObject({ cron: "0 3 * * *", overlap: "allow", suspended: false, keepSucceeded: 3, keepFailed: 1, copies: 1 });
  expect(schedule).not.toHaveProperty("startWithin");
  expect(schedule).not.toHaveProperty("timeZone");
  expect(containers[0]!.restart).toMatchObject({ ignoredExitCodes: [0], maximumCount: 6 });
  expect(JSON.parse(schedule!.document!)).toMatchObject({ kind: "CronJob", metadata: { name: "backup" } });
});

test("each of its fields is one of the schedule", () => {
  const spec = {
    ...{ schedule: "@hourly", timeZone: "Europe/Berlin", concurrencyPolicy: "Replace", startingDeadlineSeconds: 90, suspend: true },
    ...{ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 7 },
  };
  const job = { completions: 5, parallelism: 2, activeDeadlineSeconds: 60, ttlSecondsAfterFinished: 100 };
  const { schedule, deadline, retention } = taskOf(cronJob(spec, job));
  expect(schedule).toMatchObject({
    ...{ cron: "@hourly", timeZone: "Europe/Berlin", overlap: "replace", startWithin: 90_000, suspended: true },
    ...{ keepSucceeded: 0, keepFailed: 7, copies: 5, atOnce: 2 },
  });
  expect([deadline, retention]).toEqual([60_000, 100_000]);
});

test("the name and the index of a pod are placeholders, which no file has by chance", () => {
  const env = [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
  const container = { name: "main", image: "app", env, args: ["$(JOB_COMPLETION_INDEX)"] };
  const { schedule, containers } = taskOf(cronJob({}, { completionMode: "Indexed", completions: 1 }, { containers: [container] }));
  const { minutes, index } = schedule!.placeholders!;
  expect(containers[0]!.env).toMatchObject({ POD: `backup-${minutes}-0`, JOB_COMPLETION_INDEX: index });
  expect(containers[0]!.args).toEqual([index]);
  expect([minutes.length, index.length, minutes === index]).toEqual([8, 8, false]);
});

test.each([
  [cronJob({ schedule: "0 3 * *" }), /^\/spec\/schedule write five fields/],
  [cronJob({ schedule: "CRON_TZ=UTC 0 3 * * *" }), /^\/spec\/schedule the time zone is a field/],
  [cronJob({ schedule: 5 }), /^\/spec\/schedule is an expression/],
  [cronJob({ timeZone: "Local" }), /^\/spec\/timeZone there is no such time zone/],
  [cronJob({ concurrencyPolicy: "Never" }), /^\/spec\/concurrencyPolicy /],
  [cronJob({ startingDeadlineSeconds: -1 }), /^\/spec\/startingDeadlineSeconds /],
  [cronJob({ sometimes: true }), /^\/spec.* "sometimes"/],
  [cronJob({}, {}, { restartPolicy: "Always" }), /^\/spec\/jobTemplate\/spec\/template\/spec\/restartPolicy is OnFailure or Never/],
  [
    cronJob({}, {}, { volumes: [{ name: "x", nfs: { server: "s", path: "/p" } }] }),
    /^\/spec\/jobTemplate\/spec\/template\/spec\/volumes\/0\/nfs /,
  ],
  [cronJob({}, {}, {}, { name: "b".repeat(53) }), /^\/metadata\/name is longer than 52/],
  [cronJob({}, { completions: 100 }, {}, { name: "b".repeat(52) }), /^\/metadata\/name the names of its pods/],
  [cronJob({ schedule: "@every 10s" }, {}, {}, { name: "b".repeat(51) }), /^\/metadata\/name the names of its pods/],
])("%#: what is wrong has its place", (text, message) => {
  expect(told(text)).toEqual([expect.stringMatching(message)]);
});

test("what is for a cluster is left out of its pods, too", () => {
  const { findings, warnings } = read(cronJob({}, {}, { nodeSelector: { disk: "ssd" } }), true);
  expect([findings, warnings!.map(({ pointer }) => pointer)]).toEqual([[], ["/spec/jobTemplate/spec/template/spec/nodeSelector"]]);
});
