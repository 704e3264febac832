import { expect, test } from "vitest";
import { scaledSpecs } from "../../../src/engine/run/desired/scale.ts";
import type { TaskSpec } from "../../../src/engine/spec/index.ts";
import { parseCompose, parseFile } from "../../../src/pod/index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/i" };
const READ = { environment: {}, profiles: [], directory: "/srv/app", readFile: () => Buffer.from("") };

const compose = (deploy: string, more = ""): readonly TaskSpec[] => {
  const text = `name: shop\nservices:\n  web:\n    x-runt-rootfs: /r\n    command: [serve, web-2]\n    deploy: { ${deploy} }\n${more}`;
  const file = parseCompose(text, READ)!;
  expect(file.findings).toEqual([]);
  return file.tasks;
};
const pods = (kind: string, spec: object, pod: object): readonly TaskSpec[] => {
  const template = { metadata: { labels: { app: "web" } }, spec: pod };
  const document = {
    apiVersion: "apps/v1",
    kind,
    metadata: { name: "web" },
    spec: { selector: { matchLabels: { app: "web" } }, template, ...spec },
  };
  const file = parseFile(JSON.stringify(document), HOST);
  expect(file.findings).toEqual([]);
  return file.tasks;
};
/** Without what the file says of the number itself. */
const plain = (specs: readonly TaskSpec[]) =>
  specs.map(({ annotations: { "runt.dev/replica": _, ...annotations } = {}, update: __, ...spec }) => ({ ...spec, annotations }));

test("R7 scaled replicas are those that a file with the number has: of a Compose service", () => {
  const update = "update_config: { order: start-first, monitor: 1s }";
  const ports = "    ports: ['8080:80']\n    labels: { of: web-2 }\n";
  const [two, five] = [2, 5].map((count) => compose(`replicas: ${count}, ${update}`, ports));
  expect(plain(scaledSpecs(two!, 5))).toEqual(plain(five!));
  expect(scaledSpecs(two!, 5).map(({ name }) => name)).toEqual(["web", "web-2", "web-3", "web-4", "web-5"]);
  expect(scaledSpecs(five!, 2)).toEqual(five!.slice(0, 2));
  expect(plain(scaledSpecs(scaledSpecs(five!, 1), 5))).toEqual(plain(five!));
  expect(plain(scaledSpecs(compose(update, ports), 3))).toEqual(plain(compose(`replicas: 3, ${update}`, ports)));
});

test("R7 scaled replicas are those that a file with the number has: of a Deployment and of a StatefulSet with claims, names and uids", () => {
  const env = [
    { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "UID", valueFrom: { fieldRef: { fieldPath: "metadata.uid" } } },
  ];
  const pod = {
    containers: [{ name: "a", image: "app:v1", env, args: ["--id=$(POD)"], volumeMounts: [{ name: "data", mountPath: "/d" }] }],
  };
  const deployed = { ...pod, volumes: [{ name: "data", emptyDir: {} }] };
  expect(plain(scaledSpecs(pods("Deployment", { replicas: 1 }, deployed), 4))).toEqual(
    plain(pods("Deployment", { replicas: 4 }, deployed)),
  );
  const claims = {
    serviceName: "web",
    volumeClaimTemplates: [
      { metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
    ],
  };
  const set = (replicas: number) => pods("StatefulSet", { ...claims, replicas, ordinals: { start: 3 } }, pod);
  expect(plain(scaledSpecs(set(2), 12))).toEqual(plain(set(12)));
});

test("R7 what cannot have more replicas is refused by name, and the number can still become less", () => {
  const refused = (specs: readonly TaskSpec[]) => () => scaledSpecs(specs, 3);
  expect(refused(compose("update_config: { order: stop-first }", "    ports: ['8080:80']\n"))).toThrow(
    "port 8080 of the host is that of its only container: set deploy.endpoint_mode: vip",
  );
  expect(refused(compose("update_config: { order: stop-first }", "    container_name: shop\n"))).toThrow(
    "container_name is the name of one container",
  );
  const written = parseFile("name: web\nupdate: {}\ncontainers: [{ name: c, rootfs: /r, command: x }]\n", HOST).tasks;
  expect(refused(written)).toThrow("its file names each of its tasks: apply the file with more of them");
  const [spec] = written;
  for (const text of ["", "{}", "null", '{"task":1,"index":"x"}', '{"task":{"name":"y-x"},"index":"x"}'])
    expect(refused([{ ...spec!, annotations: { "runt.dev/replica": text } }])).toThrow("the number of replicas of");
});
