import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseFile } from "../index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/i" };
const read = (text: string) => parseFile(text, HOST);
const told = (text: string) => read(text).findings.map((one) => renderFinding(one, "f"));
const warned = (text: string) => (read(text).warnings ?? []).map((one) => renderFinding(one, "f"));

const service = (spec: string, name = "api") => `apiVersion: v1\nkind: Service\nmetadata: { name: ${name} }\nspec: { ${spec} }\n---\n`;
const pods = (replicas = 1) =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web }\nspec:\n  replicas: ${replicas}\n  selector: { matchLabels: { app: web } }\n  template:\n    metadata: { labels: { app: web } }\n    spec: { containers: [{ name: a, image: app:v1, ports: [{ name: http, containerPort: 8080 }] }] }\n---\n`;
const client = "apiVersion: v1\nkind: Pod\nmetadata: { name: client }\nspec: { containers: [{ name: a, image: app:v1 }] }\n";

/** Kubernetes, "Service", "DNS for Services and Pods". */
test("P3 a service is a name of the pods that it selects, and its ports lead to theirs; all pods of its namespace reach it", () => {
  const { tasks, findings } = read(`${service("selector: { app: web }, ports: [{ port: 80, targetPort: http }]")}${pods(2)}${client}`);
  expect(findings).toEqual([]);
  const names = ["api", "api.default", "api.default.svc", "api.default.svc.cluster.local"];
  const redirects = [{ port: 80, to: 8080, protocol: "tcp" }];
  expect(tasks.map(({ name, network }) => [name, network])).toEqual([
    ["web-0", expect.objectContaining({ mode: "bridge", name: "default", aliases: names, redirects })],
    ["web-1", expect.objectContaining({ mode: "bridge", name: "default", aliases: names, redirects })],
    ["client", expect.objectContaining({ mode: "bridge", name: "default", ports: [] })],
  ]);
  expect(tasks[2]!.network).not.toHaveProperty("aliases");
  // Without a service of its namespace a pod has nothing but loopback.
  expect(read(`${service("selector: { app: web }").replace("name: api", "name: api, namespace: team")}${client}`).tasks[0]!.network).toBe(
    undefined,
  );
});

test("P3 a pod of a headless service has a name of its own there", () => {
  const [task] = read(`${service("clusterIP: None, selector: { app: web }, ports: [{ port: 8080 }]")}${pods()}`).tasks;
  expect(task!.network).toMatchObject({ aliases: expect.arrayContaining(["api", "web-0.api", "web-0.api.default.svc.cluster.local"]) });
  expect(task!.network).not.toHaveProperty("redirects");
});

test("P3 ports of the host lead to the first pod: the port of a load balancer, a node port, and one that the engine chooses", () => {
  const ports = (spec: string) =>
    read(`${service(`selector: { app: web }, ${spec}`)}${pods(2)}`).tasks.map(({ network }) => network!.ports);
  expect(ports("type: LoadBalancer, ports: [{ port: 80, targetPort: 8080 }]")).toEqual([
    [{ container: 8080, host: 80, protocol: "tcp" }],
    [],
  ]);
  expect(ports("type: NodePort, ports: [{ port: 53, protocol: UDP, nodePort: 30053 }]")[0]).toEqual([
    { container: 53, host: 30_053, protocol: "udp" },
  ]);
  expect(ports("type: NodePort, ports: [{ port: 80, targetPort: http }]")[0]).toEqual([
    { container: 8080, hostRange: [30_000, 32_767], protocol: "tcp" },
  ]);
  expect(warned(`${service("selector: { app: web }, type: NodePort, ports: [{ port: 80 }]")}${pods(2)}`)).toEqual([
    "f:4:33: /spec/type: the ports of the host lead to web-0 only",
  ]);
});

test("P16 what a service cannot be is refused by name at its place; one that selects no pod of the file is told of", () => {
  const at = (spec: string) => told(`${service(spec)}${pods()}`);
  expect(at("selector: { app: web }, type: ExternalName, externalName: a.b")).toEqual([
    expect.stringContaining("/spec/type: only ClusterIP, NodePort and LoadBalancer are supported"),
    expect.stringContaining("/spec/externalName: is not supported"),
  ]);
  expect(at("selector: { app: web }, ports: [{ port: 80, targetPort: grpc }]")).toEqual(["f:4:41: /spec/ports/0: web-0 has no port grpc"]);
  expect(at("selector: { app: web }, ports: [{ port: 8080, targetPort: 9000 }]")).toEqual([
    "f:4:41: /spec/ports/0: web-0 listens on port 8080 itself: it cannot lead to 9000 there",
  ]);
  expect(at("ports: [{ port: 80 }]")).toEqual([expect.stringContaining("selects no pods: endpoints outside of the host")]);
  expect(
    at("selector: { app: web } }\n---\napiVersion: v1\nkind: Service\nmetadata: { name: api }\nspec: { selector: { app: web }"),
  ).toEqual(["f:8:13: /metadata/name: the Service api is there twice"]);
  expect(warned(`${service("selector: { app: other }")}${pods()}`)).toEqual([
    "f:4:9: /spec/selector: selects no pod of this file: its name leads nowhere",
  ]);
  expect(warned(service("selector: { app: web }"))).toContainEqual("f:2:1: /kind: the file has no pod in it: nothing runs");
});
