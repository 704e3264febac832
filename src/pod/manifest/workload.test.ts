import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseFile } from "../index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/i" };
const read = (text: string) => parseFile(text, HOST);
const told = (text: string) => read(text).findings.map((one) => renderFinding(one, "f"));

const deployment = (spec: string, pod = "") =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web, namespace: team }\nspec:\n  selector: { matchLabels: { app: web } }\n  template:\n    metadata: { labels: { app: web } }\n    spec:\n      containers: [{ name: a, image: app:v1 }]\n${pod}${spec}`;
const job = (spec: string, policy = "OnFailure") =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: { name: pi }\nspec:\n  template:\n    spec:\n      restartPolicy: ${policy}\n      containers: [{ name: a, image: app:v1 }]\n${spec}`;

/** Kubernetes, "Deployments": replicas are pods of one template; without a number there is one. */
test("P3 a deployment is as many pods as it has replicas, each started again whenever it ends, and each says whose it is", () => {
  const { tasks, findings } = read(deployment("  replicas: 3\n"));
  expect(findings).toEqual([]);
  expect(tasks.map(({ name, start }) => [name, start])).toEqual([
    ["web-0", "always"],
    ["web-1", "always"],
    ["web-2", "always"],
  ]);
  expect(JSON.parse(tasks[1]!.annotations!["runt.dev/pod"]!).metadata).toEqual({
    name: "web-1",
    namespace: "team",
    labels: { app: "web" },
    annotations: { "runt.dev/owner": "Deployment/web" },
  });
  expect(read(deployment("")).tasks).toHaveLength(1);
});

/** Kubernetes, "Jobs": completions, parallelism (1), backoffLimit (6), ttlSecondsAfterFinished. */
test("P3 a job is as many pods as it has completions, so many at a time, and each is tried again as often as it says", () => {
  const { tasks, findings } = read(job("  completions: 4\n  parallelism: 2\n  backoffLimit: 3\n  ttlSecondsAfterFinished: 100\n"));
  expect(findings).toEqual([]);
  expect(
    tasks.map(({ name, start, retention, containers: [a] }) => [name, start, retention, a!.dependsOn, a!.restart!.maximumCount]),
  ).toEqual([
    ["pi-0", "once", 100_000, [], 3],
    ["pi-1", "once", 100_000, [], 3],
    ["pi-2", "once", 100_000, [{ container: "pi-0/a", condition: "SUCCESS" }], 3],
    ["pi-3", "once", 100_000, [{ container: "pi-1/a", condition: "SUCCESS" }], 3],
  ]);
  expect(read(job("")).tasks.map(({ containers }) => containers[0]!.restart!.maximumCount)).toEqual([6]);
  expect(read(job("  backoffLimit: 0\n", "Never")).tasks[0]!.containers[0]).not.toHaveProperty("restart");
});

test("P16 what is wrong is told once, where it stands in the template; what is of a cluster is refused by name", () => {
  expect(told(deployment("  replicas: 3\n", "      nodeSelector: { a: b }\n"))).toEqual([
    expect.stringMatching(/^f:10:7: \/spec\/template\/spec\/nodeSelector: is not supported/),
  ]);
  expect(told(deployment("  strategy: { type: RollingUpdate }\n"))).toEqual([
    expect.stringMatching(/\/spec\/strategy\/type: only "Recreate"/),
  ]);
  expect(told(deployment("").replace("matchLabels: { app: web }", "matchLabels: { app: other }"))).toEqual([
    "f:5:3: /spec/selector: does not select the pods of the template",
  ]);
  expect(told(deployment("", "      restartPolicy: Never\n"))).toEqual([expect.stringContaining("is Always in a deployment")]);
  expect(told(job("", "Always"))).toEqual(["f:7:7: /spec/template/spec/restartPolicy: is OnFailure or Never in a job"]);
  expect(told(job("  completionMode: Indexed\n"))).toEqual([expect.stringContaining('only "NonIndexed" is supported')]);
  expect(told(job("  activeDeadlineSeconds: 5\n"))).toEqual([expect.stringContaining("/spec/activeDeadlineSeconds: is not supported")]);
  expect(told(job("  compleitons: 5\n"))).toEqual([expect.stringContaining('the field "compleitons" is not supported')]);
});
