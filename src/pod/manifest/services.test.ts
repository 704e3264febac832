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
test("P3 each pod that a service selects is a part of it, with its own port; all pods of its namespace are in its network", () => {
  const { tasks, findings } = read(`${service("selector: { app: web }, ports: [{ port: 80, targetPort: http }]")}${pods(2)}${client}`);
  expect(findings).toEqual([]);
  const names = ["api", "api.default", "api.default.svc", "api.default.svc.cluster.local"];
  const services = [{ names, ports: [{ port: 80, to: 8080, protocol: "tcp" }] }];
  expect(tasks.map(({ name, network }) => [name, network])).toEqual([
    ["web-0", expect.objectContaining({ mode: "bridge", name: "default", services })],
    ["web-1", expect.objectContaining({ mode: "bridge", name: "default", services })],
    ["client", expect.objectContaining({ mode: "bridge", name: "default", ports: [] })],
  ]);
  expect(tasks[2]!.network).not.toHaveProperty("services");
  // Without a service in its namespace a pod is in the network of all pods that name none.
  const elsewhere = service("selector: { app: web }, ports: [{ port: 80 }]").replace("name: api", "name: api, namespace: team");
  const alone = read(`${elsewhere}${client}`).tasks[0]!.network;
  expect(alone).toMatchObject({ mode: "bridge", fallback: "none" });
  expect(alone).not.toHaveProperty("name");
});

test("P3 a service has the address that it asks for, one part for each client, or parts that are not ready", () => {
  const part = (spec: string) =>
    read(`${service(`selector: { app: web }, ports: [{ port: 80 }], ${spec}`)}${pods()}`).tasks[0]!.network!.services;
  expect(part("clusterIP: 10.96.0.7, sessionAffinity: ClientIP")).toMatchObject([{ address: "10.96.0.7", sticky: true }]);
  expect(part('clusterIPs: [10.96.0.8], publishNotReadyAddresses: true, sessionAffinity: ""')).toMatchObject([
    { address: "10.96.0.8", unready: true },
  ]);
  expect(part('clusterIP: ""')![0]).not.toHaveProperty("address");
  const twice = service("selector: { app: web }, ports: [{ port: 80 }], clusterIP: 10.96.0.7");
  expect(told(`${twice}${twice.replace("name: api", "name: two")}${pods()}`)).toEqual([
    expect.stringContaining("/spec/clusterIP: is the address of api, too"),
  ]);
});

test("P3 pods of a headless service have names of their own there, also that of a subdomain", () => {
  const headless = service("clusterIP: None, selector: { app: web }, ports: [{ port: 80, targetPort: 8080 }]");
  const [task] = read(`${headless}${pods()}`).tasks;
  const hosts = ["web-0.api", "web-0.api.default", "web-0.api.default.svc", "web-0.api.default.svc.cluster.local"];
  expect(task!.network!.services).toEqual([{ names: expect.arrayContaining(["api"]), hosts, address: "none", ports: [] }]);
  expect(task!.network).not.toHaveProperty("redirects");
  const named = pods().replace("spec: { containers", "spec: { hostname: a1, subdomain: api, containers");
  expect(read(`${headless}${named}`).tasks[0]!.network!.services![0]!.hosts).toEqual(expect.arrayContaining(["web-0.api", "a1.api"]));
});

/** A virtual machine cannot reach virtual addresses, so names lead it to the pods themselves. */
test("P3 beside a pod in a virtual machine the port of a service is redirected in each of its pods", () => {
  const machine = client.replace("spec: {", "spec: { runtimeClassName: vm,");
  const all = (port: number) => `${service(`selector: { app: web }, ports: [{ port: ${port}, targetPort: 9000 }]`)}${pods()}${machine}`;
  const host = { ...HOST, runtimes: ["vm"], machines: ["vm"] };
  expect(parseFile(all(80), host).tasks[0]!.network!.redirects).toEqual([{ port: 80, to: 9000, protocol: "tcp" }]);
  expect(parseFile(all(8080), host).findings.map(({ message }) => message)).toEqual([
    "web-0 listens on port 8080 itself: it cannot lead to 9000 there",
  ]);
  expect(read(all(8080)).findings).toEqual([]);
});

test("P3 ports of the host are of the service: the port of a load balancer, a node port, and one that the engine chooses", () => {
  const ports = (spec: string) =>
    read(`${service(`selector: { app: web }, ${spec}`)}${pods(2)}`).tasks.map(({ network }) => network!.ports);
  const owner = { name: "api.default" };
  const both = Array(2).fill([{ container: 8080, host: 80, protocol: "tcp", service: owner }]);
  expect(ports("type: LoadBalancer, ports: [{ port: 80, targetPort: 8080 }]")).toEqual(both);
  expect(ports("type: NodePort, ports: [{ port: 53, protocol: UDP, nodePort: 30053 }]")[0]).toEqual([
    { container: 53, host: 30_053, protocol: "udp", service: owner },
  ]);
  expect(ports("type: NodePort, ports: [{ port: 80, targetPort: http }]")[0]).toEqual([
    { container: 8080, hostRange: [30_000, 32_767], protocol: "tcp", service: owner },
  ]);
  const more = "sessionAffinity: ClientIP, publishNotReadyAddresses: true";
  expect(ports(`type: NodePort, ports: [{ port: 80, nodePort: 30080 }], ${more}`)[1]).toMatchObject([
    { host: 30_080, service: { ...owner, sticky: true, unready: true } },
  ]);
});

test("a pod without the port of a name is left out for that port, and one with the network of the host for all; both are told", () => {
  const other = pods().replaceAll("name: web }", "name: other }").replace("name: http", "name: grpc");
  const text = `${service("selector: { app: web }, type: NodePort, ports: [{ name: a, port: 80, targetPort: http }, { name: b, port: 81, targetPort: 9000 }]")}${pods(2)}${other}`;
  expect(told(text)).toEqual([]);
  expect(warned(text)).toEqual(["f:4:57: /spec/ports/0: leads to no port of other-0: there is no port http"]);
  const { network } = read(text).tasks.find(({ name }) => name === "other-0")!;
  expect(network!.services).toMatchObject([{ ports: [{ port: 81, to: 9000 }] }]);
  expect(network!.ports).toMatchObject([{ container: 9000 }]);
  const ofHost = pods().replace("spec: { containers", "spec: { hostNetwork: true, containers");
  const hosted = `${service("selector: { app: web }, ports: [{ port: 80, targetPort: gone }]")}${ofHost}`;
  expect(told(hosted)).toEqual([]);
  expect(warned(hosted)).toEqual([
    "f:4:9: /spec/selector: does not lead to web-0, with the network of the host: it leads to pods with addresses of their own",
  ]);
});

test("a load balancer opens its node ports, too; ports and names have the bounds of Kubernetes", () => {
  const at = (spec: string, name = "api") => `${service(`selector: { app: web }, ${spec}`, name)}${pods()}`;
  const opened = read(at("type: LoadBalancer, ports: [{ port: 80, nodePort: 30080 }]")).tasks[0]!.network!.ports;
  expect(opened.map(({ host, container }) => [host, container])).toEqual([
    [80, 80],
    [30_080, 80],
  ]);
  const once = read(at("type: LoadBalancer, ports: [{ port: 30080, nodePort: 30080, targetPort: 8080 }]"));
  expect([once.findings, once.tasks[0]!.network!.ports.map(({ host }) => host)]).toEqual([[], [30_080]]);
  expect(told(at("type: NodePort, ports: [{ port: 80, nodePort: 80 }]"))).toEqual([
    expect.stringContaining("/spec/ports/0/nodePort: is a port from 30000 to 32767"),
  ]);
  expect(told(at("ports: [{ port: 80 }]", "1api"))).toEqual([]);
  expect(told(at("ports: [{ port: 80 }]", "a.b"))).toEqual([expect.stringContaining("/metadata/name: use 1 to 63")]);
});

test("P16 what a service cannot be is refused by name at its place; one that selects no pod of the file is told of", () => {
  const at = (spec: string) => told(`${service(spec)}${pods()}`);
  expect(at("selector: { app: web }, type: ExternalName, externalName: a.b")).toEqual([
    expect.stringContaining("/spec/type: only ClusterIP, NodePort and LoadBalancer are supported"),
    expect.stringContaining("/spec/externalName: is not supported"),
  ]);
  expect(at('selector: { app: web }, ports: [{ name: a, port: 80, targetPort: 0 }, { name: b, port: 81, targetPort: "" }]')).toEqual([]);
  for (const names of ["", "name: a, "])
    expect(at(`selector: { app: web }, ports: [{ name: a, port: 80 }, { ${names}port: 81 }]`)).toEqual([
      "f:4:33: /spec/ports: with several ports each has a name of its own",
    ]);
  expect(at("selector: { app: web }, ports: [{ port: 80, nodePort: 30080 }]")).toEqual([
    "f:4:33: /spec/ports: a nodePort needs the type NodePort or LoadBalancer",
  ]);
  expect(at("selector: { app: web }")).toEqual(["f:4:1: /spec/ports: a service has at least one port"]);
  expect(at("selector: { app: web }, clusterIP: None")).toEqual([]);
  expect(
    at(
      "selector: { app: web }, clusterIP: None }\n---\napiVersion: v1\nkind: Service\nmetadata: { name: api }\nspec: { selector: { app: web }, clusterIP: None",
    ),
  ).toEqual(["f:8:13: /metadata/name: the Service api is there twice"]);
  for (const spec of ["selector: { app: other }, clusterIP: None", "ports: [{ port: 80 }]"])
    expect(warned(`${service(spec)}${pods()}`)).toEqual([expect.stringContaining("selects no pod of this file: its name leads nowhere")]);
  expect(warned(service("selector: { app: web }, clusterIP: None"))).toContainEqual(
    "f:2:1: /kind: the file has no pod in it: nothing runs",
  );
});

test("a container has the variables of services in its namespace to which it refers", () => {
  const services = [
    service("clusterIP: 10.96.7.9, selector: { app: web }, ports: [{ name: a-b, port: 80 }, { name: c, port: 81 }]", "my-api"),
    service("clusterIP: None, selector: { app: web }", "head"),
    service("selector: { app: web }, ports: [{ port: 1 }]", "far, namespace: other"),
    service("selector: { app: web }, ports: [{ port: 8080 }]", "db"),
  ].join("");
  const env =
    '[{ name: URL, value: "$(DB_SERVICE_HOST):$(DB_SERVICE_PORT)" }, { name: MY_API_SERVICE_PORT, value: own }, { name: H, value: "$(HEAD_SERVICE_HOST)" }]';
  const text = (spec: string) =>
    `${services}apiVersion: v1\nkind: Pod\nmetadata: { name: web, labels: { app: web } }\nspec: { ${spec}containers: [{ name: a, image: app:v1, command: ["$(MY_API_SERVICE_HOST):$(MY_API_SERVICE_PORT_A_B)"], env: ${env} }] }\n`;
  const { tasks, findings } = read(text(""));
  expect(findings).toEqual([]);
  expect(tasks[0]!.containers[0]).toMatchObject({
    command: "10.96.7.9:80",
    env: {
      ...{ MY_API_SERVICE_HOST: "10.96.7.9", MY_API_SERVICE_PORT: "own", MY_API_SERVICE_PORT_A_B: "80" },
      ...{ DB_SERVICE_HOST: "db", DB_SERVICE_PORT: "8080", URL: "db:8080", H: "$(HEAD_SERVICE_HOST)" },
    },
  });
  expect(tasks[0]!.containers[0]!.env).not.toHaveProperty("MY_API_SERVICE_PORT_C");
  const without = read(text("enableServiceLinks: false, ")).tasks[0]!.containers[0]!.env;
  expect(without).toEqual({ URL: "$(DB_SERVICE_HOST):$(DB_SERVICE_PORT)", MY_API_SERVICE_PORT: "own", H: "$(HEAD_SERVICE_HOST)" });
});
