import { expect, test } from "vitest";
import { parseClusterPod } from "./pod.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 1, images: "oci:/srv/images" };
const RULES = { hostPaths: ["/srv/given"], network: "bridge" } as const;
const none = { configMaps: [], secrets: [], projected: [] };
const metadata = { name: "web", namespace: "team", uid: "u-1", resourceVersion: "7", ownerReferences: [{}], finalizers: ["x"] };
const container = { name: "a", image: "app:v1", terminationMessagePath: "/dev/termination-log" };
const read = (spec: object, more: Partial<typeof none> = {}) =>
  parseClusterPod({ pod: { metadata, spec: { containers: [container], ...spec }, status: {} }, ...none, ...more }, HOST, RULES);

test("P3 P14 P24 a pod of a cluster is a task with the name of its uid, behind a bridge, whatever the cluster has decided before", () => {
  const decided = {
    ...{
      nodeName: "virtual",
      nodeSelector: { a: "b" },
      affinity: {},
      priority: 5,
      priorityClassName: "x",
      schedulerName: "default-scheduler",
    },
    ...{ serviceAccountName: "robot", tolerations: [{}], topologySpreadConstraints: [], preemptionPolicy: "Never" },
  };
  const { tasks, findings } = read(decided);
  expect(findings).toEqual([]);
  expect(tasks[0]).toMatchObject({
    name: "u-1",
    network: { mode: "bridge" },
    hostPaths: ["/srv/given"],
    containers: [{ image: "oci:/srv/images/app:v1", annotations: { "runt.dev/pod.namespace": "team", "runt.dev/pod.name": "web" } }],
  });
});

test("P4 what two containers refer to comes twice and is one; the file for messages is the one that the cluster names", () => {
  const conf = { metadata: { name: "conf", namespace: "team", managedFields: [] }, data: { a: "b" } };
  const volumes = [{ name: "c", configMap: { name: "conf" } }];
  expect(read({ volumes }, { configMaps: [conf, conf] as never[] }).tasks[0]!.volumes).toMatchObject([
    { name: "c", files: { a: { content: "b" } } },
  ]);
  expect(read({ volumes }).findings).toHaveLength(1);
  const paths = [{}, { terminationMessagePath: "/m" }].map(
    (more) => read({ containers: [{ ...container, ...more }] }).tasks[0]!.containers[0]!,
  );
  expect(paths.map(({ endMessage }) => endMessage?.path)).toEqual(["/dev/termination-log", "/m"]);
});

test("P4 a claim of a cluster is no directory of this host", () => {
  const refused = (volume: object) =>
    read({ volumes: [{ name: "v", ...volume }] }).findings.map(({ pointer, message }) => [pointer, message]);
  const message = "the claim is one of the cluster, and its volume is not on this host";
  expect(refused({ persistentVolumeClaim: { claimName: "data" } })).toEqual([["/spec/volumes/0/persistentVolumeClaim", message]]);
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  expect(refused({ ephemeral: { volumeClaimTemplate: { spec } } })).toEqual([["/spec/volumes/0/ephemeral", message]]);
});

test("P4 no container of a cluster is privileged, whatever it is for", () => {
  const securityContext = { privileged: true };
  const refused = (spec: object) => read(spec).findings.map(({ pointer, message }) => [pointer, message]);
  const message = "it is not privileged: a pod of a cluster runs under the profile restricted";
  expect(refused({ containers: [{ ...container, securityContext }] })).toEqual([
    ["/spec/containers/0/securityContext/privileged", message],
  ]);
  expect(refused({ initContainers: [{ ...container, name: "b", securityContext, restartPolicy: "Always" }] })).toEqual([
    ["/spec/initContainers/0/securityContext/privileged", message],
  ]);
  expect(read({ containers: [{ ...container, securityContext: { privileged: false } }] }).findings).toEqual([]);
});

test("P4 the token of a service account is a file when it was sent, and is refused by name otherwise", () => {
  const volumes = [{ name: "api", projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: "token" } }] } }];
  const sent = { metadata: { name: "api", namespace: "team" }, data: { token: "jwt" } };
  expect(read({ volumes }, { projected: [sent] as never[] }).tasks[0]!.volumes).toMatchObject([
    { name: "api", files: { token: { content: "jwt" } } },
  ]);
  expect(read({ volumes }).findings).toMatchObject([{ pointer: "/spec/volumes/0/projected/sources/0/serviceAccountToken" }]);
});
