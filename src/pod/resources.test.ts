import { expect, test } from "vitest";
import { podTotal, qosClass, resourcesOf, sharesOf } from "./resources.ts";

test.each([
  [100, 102],
  [500, 512],
  [1000, 1024],
  [1, 2],
])("P6 a request of CPU becomes a weight, as the kubelet makes it (%d thousandths: %d)", (milli, shares) => {
  expect(sharesOf(milli)).toBe(shares);
});

test("P6 what is not requested is requested as it is limited; a request limits nothing", () => {
  expect(resourcesOf({ limits: { cpu: "1", memory: "1Mi" } })).toEqual({
    limits: { cpu: 1000, memory: 2 ** 20 },
    requests: { cpu: 1000, memory: 2 ** 20 },
  });
  expect(resourcesOf({ requests: { cpu: "250m" } })).toEqual({ limits: {}, requests: { cpu: 250 } });
  expect(resourcesOf(undefined)).toEqual({ limits: {}, requests: {} });
});

test("P7 a pod has the sum of its containers and sidecars, or one init container with the sidecars before it", () => {
  expect(podTotal({ containers: [1, 2], init: [] })).toBe(3);
  expect(podTotal({ containers: [1, 2], init: [{ value: 5, isSidecar: false }] })).toBe(5);
  const init = [
    { value: 4, isSidecar: true },
    { value: 5, isSidecar: false },
  ];
  expect(podTotal({ containers: [1, 2], init })).toBe(9);
  expect(podTotal({ containers: [1, 6], init })).toBe(11);
  expect(podTotal({ containers: [1, undefined], init: [] })).toBeUndefined();
});

/** Kubernetes, "Pod Quality of Service Classes". */
test("P33 guaranteed, burstable, best effort", () => {
  const limited = resourcesOf({ limits: { cpu: "1", memory: "1Mi" } });
  const half = resourcesOf({ limits: { cpu: "1", memory: "1Mi" }, requests: { cpu: "500m" } });
  const none = resourcesOf(undefined);
  expect(qosClass([limited, limited])).toBe("Guaranteed");
  expect(qosClass([limited, none])).toBe("Burstable");
  expect(qosClass([half])).toBe("Burstable");
  expect(qosClass([none, none])).toBe("BestEffort");
});
