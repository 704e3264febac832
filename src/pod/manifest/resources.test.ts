import { expect, test } from "vitest";
import { only, pod, told } from "../../../test/support/engine/pod-file.ts";
import { parseFile } from "../index.ts";

/** Kubernetes, "Assign Pod-level CPU and memory resources". */
test("P7 limits of the pod as a whole take the place of the sum; what it requests beside its containers is shared by those that request nothing", () => {
  const text = pod(
    "  resources: { limits: { cpu: 2, memory: 1Gi }, requests: { memory: 512Mi } }\n  containers:\n  - { name: a, command: [sh], resources: { requests: { memory: 128Mi } } }\n  - { name: b, command: [sh] }\n",
  );
  const task = only(text);
  expect(task).toMatchObject({ cpus: 2, memory: 2 ** 30 });
  expect(task.containers.map(({ memoryReservation }) => memoryReservation)).toEqual([128 * 2 ** 20, 384 * 2 ** 20]);
  expect(told(text.replace("memory: 128Mi", "memory: 768Mi"))).toEqual([
    expect.stringMatching(/\/spec\/resources\/requests\/memory: is less than its containers request$/),
  ]);
  expect(told(text.replace("requests: { memory: 128Mi }", "limits: { memory: 2Gi }"))).toEqual([
    expect.stringMatching(/\/spec\/resources\/requests\/memory: is less than its containers request$/),
    expect.stringMatching(/\/spec\/containers\/0\/resources\/limits\/memory: is more than the pod may have$/),
  ]);
});

test("P4 a time for the pod, room on the disk, and credentials of the host by their name", () => {
  const host = { name: "n", cpus: 1, memoryBytes: 1, images: "docker://registry.example/library" };
  const text = `apiVersion: v1
kind: Pod
metadata: { name: web }
spec:
  activeDeadlineSeconds: 90
  imagePullSecrets: [{ name: regcred }]
  containers:
  - { name: a, image: shop, resources: { limits: { ephemeral-storage: 1Gi }, requests: { ephemeral-storage: 1Mi } } }
  - { name: b, image: shop, resources: { limits: { ephemeral-storage: 2Gi } } }
`;
  expect(parseFile(text, host).tasks).toMatchObject([
    {
      deadline: 90_000,
      storage: 3 * 2 ** 30,
      containers: [{ pullCredentials: "regcred", storage: 2 ** 30 }, { storage: 2 ** 31 }],
    },
  ]);
});
