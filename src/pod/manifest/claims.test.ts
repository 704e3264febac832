import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseFile } from "../index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/i" };
const read = (text: string) => parseFile(text, HOST);
const told = (text: string) => read(text).findings.map((one) => renderFinding(one, "f"));

const pod = (claim = "claimName: data", namespace = "default") =>
  `apiVersion: v1\nkind: Pod\nmetadata: { name: web, namespace: ${namespace} }\nspec:\n  containers: [{ name: a, image: app:v1, volumeMounts: [{ name: v, mountPath: /data }] }]\n  volumes: [{ name: v, persistentVolumeClaim: { ${claim} } }]\n---\n`;
const claim = (spec: string) =>
  `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: data }\nspec: { accessModes: [ReadWriteOnce], ${spec} }\n---\n`;
const SIZE = "resources: { requests: { storage: 1Gi } }";
const volume = (name: string, size: string, further: string) =>
  `apiVersion: v1\nkind: PersistentVolume\nmetadata: { name: ${name} }\nspec: { capacity: { storage: ${size} }, accessModes: [ReadWriteOnce], ${further} }\n---\n`;

test("P3 a claim is a directory of the group that is kept, empty at first, and another one in each namespace", () => {
  const { tasks, findings, warnings } = read(`${claim("resources: { requests: { storage: 1Gi } }")}${pod()}`);
  expect(findings).toEqual([]);
  expect(tasks[0]!.volumes).toEqual([{ name: "v", kept: "data" }]);
  expect(tasks[0]!.containers[0]!.mounts).toEqual([{ volume: "v", target: "/data", readOnly: false, noCopy: true }]);
  expect(warnings!.map(({ pointer }) => pointer)).toEqual(["/spec/resources/requests/storage"]);
  expect(read(pod("claimName: data", "team")).tasks[0]!.volumes).toEqual([{ name: "v", kept: "team_data" }]);
  expect(read(pod("claimName: data, readOnly: true")).tasks[0]!.containers[0]!.mounts[0]).toMatchObject({ readOnly: true });
});

/** Kubernetes, "Persistent Volumes", "Binding". */
test("P3 a claim has the smallest volume of the file that fits, or the one that it names", () => {
  const volumes = [
    volume("big", "10Gi", "storageClassName: manual, hostPath: { path: /srv/big }"),
    volume("small", "1Gi", "storageClassName: manual, local: { path: /srv/small }"),
    volume("kept-back", "2Gi", "storageClassName: manual, claimRef: { name: other }, hostPath: { path: /srv/other }"),
  ].join("");
  const at = (spec: string) => read(`${volumes}${claim(spec)}${pod()}`).tasks[0]!.volumes[0];
  const wants = (size: string) => `storageClassName: manual, resources: { requests: { storage: ${size} } }`;
  expect(at(wants("1Gi"))).toEqual({ name: "v", host: "/srv/small", hostType: "Directory" });
  expect(at(wants("2Gi"))).toEqual({ name: "v", host: "/srv/big", hostType: "DirectoryOrCreate" });
  expect(at(`${wants("1Gi")}, volumeName: big`)).toMatchObject({ host: "/srv/big" });
  expect(at(wants("20Gi"))).toEqual({ name: "v", kept: "data" });
  expect(told(`${claim(`volumeName: gone, ${SIZE}`)}${pod()}`)).toEqual([
    "f:4:39: /spec/volumeName: the file has no free volume gone; --ignore-cluster-fields takes an empty directory of the group in its place",
  ]);
  const remote = volume("far", "1Gi", "storageClassName: manual, mountOptions: [ro], nfs: { server: s, path: /p }");
  expect(told(`${remote}${claim(wants("1Gi"))}${pod()}`)).toEqual([
    expect.stringContaining("/spec: what its volume far has (nfs) is not on this host; --ignore-cluster-fields"),
  ]);
  expect(told(volume("both", "1Gi", "hostPath: { path: /a }, nfs: { server: s, path: /p }"))).toEqual([
    expect.stringContaining("/spec: has to name exactly one source"),
  ]);
  expect(told(volume("here", "1Gi", "mountOptions: [ro], hostPath: { path: /a }"))).toEqual([
    expect.stringContaining("/spec/mountOptions: "),
  ]);
  expect(told(`${claim(`volumeMode: Block, ${SIZE}`)}${pod()}`)).toEqual([expect.stringContaining('only "Filesystem" is supported')]);
});

test("a claim asks for modes and a size; larger sizes than can be counted are compared all the same", () => {
  expect(told(claim("storageClassName: manual"))).toEqual([expect.stringContaining("/spec/resources/requests/storage: is missing")]);
  expect(told(claim(SIZE).replace("[ReadWriteOnce]", "[]"))).toEqual([expect.stringContaining("/spec/accessModes: names at least one")]);
  const large = volume("large", "10Pi", "storageClassName: manual, hostPath: { path: /srv/large }");
  const bound = (size: string) =>
    read(`${large}${claim(`storageClassName: manual, resources: { requests: { storage: ${size} } }`)}${pod()}`).tasks[0]!.volumes[0];
  expect(bound("9Pi")).toMatchObject({ host: "/srv/large" });
  expect(bound("20Pi")).toEqual({ name: "v", kept: "data" });
});

test("the name of a claim may have dots, which its directory has as underscores", () => {
  expect(read(pod("claimName: data.v1")).tasks[0]!.volumes).toEqual([{ name: "v", kept: "data__v1" }]);
  expect(read(pod("claimName: data.v1", "team")).tasks[0]!.volumes).toEqual([{ name: "v", kept: "team_data__v1" }]);
});

const set = (spec: string) =>
  `apiVersion: apps/v1\nkind: StatefulSet\nmetadata: { name: db }\nspec:\n  replicas: 2\n  serviceName: db\n  selector: { matchLabels: { app: db } }\n  template:\n    metadata: { labels: { app: db } }\n    spec: { containers: [{ name: a, image: app:v1, volumeMounts: [{ name: data, mountPath: /d }] }] }\n${spec}`;

/** Kubernetes, "StatefulSets": stable names, a claim for each, one after the other. */
test("P3 pods of a stateful set have a claim each, and start one after the other", () => {
  const templates = "  volumeClaimTemplates: [{ metadata: { name: data }, spec: { accessModes: [ReadWriteOnce] } }]\n";
  const shown = (text: string) => read(text).tasks.map(({ name, volumes, containers: [a] }) => [name, volumes, a!.dependsOn]);
  expect(shown(set(templates))).toEqual([
    ["db-0", [{ name: "data", kept: "data-db-0" }], []],
    ["db-1", [{ name: "data", kept: "data-db-1" }], [{ container: "db-0/a", condition: "START" }]],
  ]);
  expect(
    shown(set(`${templates}  podManagementPolicy: Parallel\n  ordinals: { start: 5 }\n`)).map(([name, , after]) => [name, after]),
  ).toEqual([
    ["db-5", []],
    ["db-6", []],
  ]);
  expect(told(set(`${templates}  persistentVolumeClaimRetentionPolicy: { whenDeleted: Delete }\n`))).toEqual([
    expect.stringContaining('/spec/persistentVolumeClaimRetentionPolicy/whenDeleted: only "Retain" is supported'),
  ]);
});
