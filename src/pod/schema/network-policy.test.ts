import { expect, test } from "vitest";
import { permitsEverything } from "./network-policy.ts";

const policy = (spec: object) => ({ apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: "p" }, spec });
const ALL = { podSelector: {} };

/** Source: Kubernetes, "Network Policies", "Default policies". */
test.each([
  [{ ...ALL, ingress: [{}] }, true],
  [{ ...ALL, ingress: [{}], egress: [{}], policyTypes: ["Ingress", "Egress"] }, true],
  [{ ...ALL, policyTypes: ["Egress"], egress: [{ to: [], ports: [] }] }, true],
  [{ ...ALL, ingress: [{ from: [{ podSelector: {} }] }, {}] }, true],
  [ALL, false],
  [{ ...ALL, ingress: [] }, false],
  [{ ...ALL, ingress: [{}], policyTypes: ["Ingress", "Egress"] }, false],
  [{ ...ALL, ingress: [{}], egress: [{ ports: [{ port: 53 }] }] }, false],
  [{ ...ALL, ingress: [{ ports: [{ port: 80 }] }] }, false],
  [{ ...ALL, ingres: [{}] }, false],
])("row %#: a policy that permits every connection changes nothing", (spec, expected) => {
  expect(permitsEverything(policy(spec))).toBe(expected);
});
