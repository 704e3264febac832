import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseFile } from "../index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/i" };
const told = (text: string) => {
  const { findings, warnings = [] } = parseFile(text, HOST);
  return [findings, warnings].map((all) => all.map((one) => renderFinding(one, "f")));
};
const account = (fields = "", namespace = "default") =>
  `apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: web, namespace: ${namespace} }\n${fields}---\n`;
/** As `helm create` writes it. */
const deployment = (fields: string, replicas = 2) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec:\n  replicas: ${replicas}\n  selector: { matchLabels: { app: web } }\n  template:\n    metadata: { labels: { app: web } }\n    spec:\n      ${fields}\n      containers: [{ name: a, image: app:v1, env: [{ name: WHO, valueFrom: { fieldRef: { fieldPath: spec.serviceAccountName } } }] }]\n`;

test("an account of the file, and a token that would be mounted without a word, too: accepted, and told once for all pods", () => {
  const text = account("automountServiceAccountToken: true\n") + deployment("serviceAccountName: web");
  expect(told(text)).toEqual([
    [],
    [
      "f:4:1: /automountServiceAccountToken: has no effect: there is no account whose token could be mounted",
      "f:15:7: /spec/template/spec/serviceAccountName: has no effect: a pod has no token and no rights of an account here",
    ],
  ]);
  expect(parseFile(text, HOST).tasks[0]!.containers[0]!.env).toEqual({ WHO: "web" });
  expect(told(deployment("automountServiceAccountToken: true"))).toEqual([
    [],
    ["f:10:7: /spec/template/spec/automountServiceAccountToken: has no effect: there is no account whose token could be mounted"],
  ]);
  for (const fields of ["serviceAccountName: default", 'serviceAccountName: ""', "automountServiceAccountToken: false"])
    expect(told(deployment(fields))).toEqual([[], []]);
});

test("an account that the file does not have in the namespace of the pod is refused by name", () => {
  for (const before of ["", account("", "team")]) {
    const [findings] = told(before + deployment("serviceAccountName: web", 1));
    expect(findings).toEqual([
      expect.stringContaining(
        "/spec/template/spec/serviceAccountName: the file has no ServiceAccount web in namespace default, and there is no cluster; --ignore-cluster-fields leaves it out",
      ),
    ]);
  }
});
