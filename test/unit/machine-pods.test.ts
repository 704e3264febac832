/** The machine's room knows a pod by the annotations that the other rooms know, of which it imports nothing. */

import { expect, it } from "vitest";
import { MANAGERS, SIZE_FIELDS, sizeKey } from "../../src/runtime/config/cri/sandbox.ts";
import { POD_KEYS, podPart, podResources } from "../../src/runtime/isolation/asked/pod.ts";

it("K2, K3, K4: what a container is, and of which sandbox", () => {
  expect(POD_KEYS).toEqual(MANAGERS.map(({ typeKey, idKey }) => [typeKey, idKey]));
  expect(podPart({ "io.kubernetes.docker.type": "podsandbox" })).toEqual({ isSandbox: true, sandbox: undefined });
  expect(podPart({})).toBeUndefined();
});

it("K36: how much its containers may use", () => {
  const annotations = Object.fromEntries(SIZE_FIELDS.map((field) => [sizeKey(field), field === "memory" ? "3" : "2"]));
  expect(podResources(annotations, undefined)).toEqual({ cpu: { quota: 2n, period: 2n }, memory: { limit: 3n } });
});
