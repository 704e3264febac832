/** Documents as programs write them: lists, merged maps, and what a cluster shows of a pod. */
import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseFile } from "../index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/i" };
const read = (text: string) => parseFile(text, HOST);
const told = (text: string) => read(text).findings.map((one) => renderFinding(one, "f"));

test("a list without items runs nothing and says so; lists in lists and merged maps are taken as kubectl takes them", () => {
  const { findings, warnings = [], tasks } = read("apiVersion: v1\nkind: List\nitems: []\n");
  expect([tasks, findings, warnings.map((one) => renderFinding(one, "f"))]).toEqual([
    [],
    [],
    ["f:2:1: /kind: the file has no pod in it: nothing runs"],
  ]);
  expect(told("apiVersion: v1\nkind: List\nextra: 1\nitems: []\n")).toEqual([
    expect.stringContaining('the field "extra" is not supported'),
  ]);
  const pod =
    "{ apiVersion: v1, kind: Pod, metadata: { name: a }, spec: { containers: [{ name: a, <<: { image: app:v1, command: [x] }, command: [y] }] } }";
  const nested = read(`apiVersion: v1\nkind: List\nitems: [{ apiVersion: v1, kind: List, items: [${pod}] }]\n`);
  expect(nested.findings).toEqual([]);
  expect(nested.tasks.map(({ containers: [one] }) => [one!.image, one!.command])).toEqual([["oci:/i/app:v1", "y"]]);
});

test("a pod as a cluster shows it can be applied with the flag: its node, its token and the certificate beside that are left out", () => {
  const shown =
    "apiVersion: v1\nkind: Pod\nmetadata: { name: a, ownerReferences: [{ kind: ReplicaSet }] }\nspec:\n  nodeName: elsewhere\n  serviceAccountName: default\n  containers: [{ name: a, image: x:1, volumeMounts: [{ name: kube-api-access-1, mountPath: /t, readOnly: true }] }]\n  volumes: [{ name: kube-api-access-1, projected: { sources: [{ serviceAccountToken: { path: token } }, { configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] } }, { downwardAPI: { items: [{ path: namespace, fieldRef: { fieldPath: metadata.namespace } }] } }] } }]\nstatus: { phase: Running }\n";
  const { tasks, findings, warnings = [] } = parseFile(shown, { ...HOST, ignoresClusterFields: true });
  expect(findings).toEqual([]);
  expect(Object.keys(tasks[0]!.volumes[0]!.files!)).toEqual(["namespace"]);
  expect(warnings.map(({ pointer }) => pointer)).toEqual([
    "/metadata/ownerReferences",
    "/spec/nodeName",
    "/spec/volumes/0/projected/sources/0/serviceAccountToken",
    "/spec/volumes/0/projected/sources/1/configMap",
  ]);
});
