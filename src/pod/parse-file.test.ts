import { expect, test } from "vitest";
import { CONFIG, first, one, only, pod, read, told } from "../../test/support/engine/pod-file.ts";
import { earlierDigest } from "../engine/spec/index.ts";
import { parseFile } from "./index.ts";

test("P3 P9 a pod becomes one task: its containers share a network that the engine makes, and ipc, and nothing of the host", () => {
  const task = only(pod("  containers:\n  - { name: a, command: [sh] }\n  - { name: b, command: [sh] }\n"));
  expect(task).toMatchObject({
    name: "web",
    namespaces: { pid: "private", ipc: "shared", network: "private", uts: "private" },
    network: { mode: "bridge", fallback: "none", ports: [] },
    ends: "all",
    start: "always",
    ports: [],
  });
  expect(
    task.containers.map(({ name, rootfs, hostname, essential, stopTimeout }) => [name, rootfs, hostname, essential, stopTimeout]),
  ).toEqual([
    ["a", "/srv/a", "web", true, 30_000],
    ["b", "/srv/b", "web", true, 30_000],
  ]);
});

test("P7 P9 the pod has the sum of its containers, or what its largest init container needs", () => {
  const limited = (name: string, memory: string) =>
    `  - { name: ${name}, command: [sh], resources: { limits: { cpu: 1, memory: ${memory} } } }\n`;
  expect(only(pod(`  containers:\n${limited("a", "64Mi")}${limited("b", "32Mi")}`))).toMatchObject({ cpus: 2, memory: 96 * 2 ** 20 });
  expect(only(pod(`  initContainers:\n${limited("b", "128Mi")}  containers:\n${limited("a", "64Mi")}`))).toMatchObject({
    cpus: 1,
    memory: 128 * 2 ** 20,
  });
  expect(only(pod(`  containers:\n${limited("a", "64Mi")}  - { name: b, command: [sh] }\n`))).not.toHaveProperty("memory");
});

test("init containers run one after the other, a restartable one goes on, and the containers wait for the last", () => {
  const text = pod(
    "  initContainers:\n  - { name: a, command: [sh] }\n  - { name: b, command: [sh], restartPolicy: Always }\n  containers:\n  - { name: c, command: [sh] }\n  restartPolicy: OnFailure\n",
  ).replace("runt.dev/rootfs.a", "runt.dev/rootfs.c: /srv/c, runt.dev/rootfs.a");
  expect(
    only(text).containers.map(({ name, essential, dependsOn, restart }) => ({
      name,
      essential,
      dependsOn,
      ignored: restart?.ignoredExitCodes,
    })),
  ).toEqual([
    { name: "a", essential: false, dependsOn: [], ignored: [0] },
    { name: "b", essential: false, dependsOn: [{ container: "a", condition: "SUCCESS" }], ignored: [] },
    { name: "c", essential: true, dependsOn: [{ container: "b", condition: "START" }], ignored: [0] },
  ]);
});

test("restartPolicy Never restarts nothing, and the waits of the others are those of the kubelet", () => {
  expect(first(one("", "  restartPolicy: Never\n"))).not.toHaveProperty("restart");
  expect(first(one("")).restart).toMatchObject({ backoff: { initial: 10_000, maximum: 300_000, resetAfter: 600_000 } });
});

test("namespaces of the host, of the pod, its hostname and its lines in /etc/hosts", () => {
  expect(only(one("", "  hostNetwork: true\n  hostPID: true\n  hostIPC: true\n")).namespaces).toEqual({
    pid: "host",
    ipc: "host",
    network: "host",
    uts: "host",
  });
  expect(only(one("", "  shareProcessNamespace: true\n")).namespaces.pid).toBe("shared");
  expect(first(one("", "  hostname: other\n")).hostname).toBe("other");
  const { volumes, containers, network } = only(one("", "  hostAliases: [{ ip: 10.0.0.1, hostnames: [db, db.local] }]\n"));
  expect(network!.hosts).toEqual([
    { name: "db", address: "10.0.0.1" },
    { name: "db.local", address: "10.0.0.1" },
  ]);
  expect([volumes, containers[0]!.mounts]).toEqual([[], []]);
  expect(told(one("", "  hostAliases: [{ ip: 10.0.0.1, hostnames: ['a b'] }]\n"))[0]).toContain("/spec/hostAliases: ");
});

test("P15 ports of the host lead to the pod, or are its own with hostNetwork; others say what a container listens on", () => {
  const ports = "    ports: [{ containerPort: 80, hostPort: 80 }, { containerPort: 53, protocol: UDP }]\n";
  expect(only(one(ports, "  hostNetwork: true\n")).ports).toEqual([
    { port: 80, protocol: "tcp" },
    { port: 53, protocol: "udp" },
  ]);
  expect(only(one(ports.replace("hostPort: 80", "hostPort: 8080, hostIP: 127.0.0.1")))).toMatchObject({
    namespaces: { network: "private" },
    network: { mode: "bridge", ports: [{ container: 80, host: 8080, protocol: "tcp", address: "127.0.0.1" }] },
    ports: [],
  });
  expect(told(one(ports.replace("hostPort: 80", "hostPort: 81"), "  hostNetwork: true\n"))).toEqual([
    "f:10:34: /spec/containers/0/ports/0/hostPort: with hostNetwork it is the same as containerPort",
  ]);
});

test("P11 P23 P24 the document goes with the task, annotations and all, and each container says whose it is", () => {
  const text = one("").replace("annotations: {", "annotations: { example.org/role: reader,");
  const { annotations, containers } = only(text);
  expect(JSON.parse(annotations!["runt.dev/pod"]!).metadata.annotations["example.org/role"]).toBe("reader");
  expect(containers[0]!.annotations).toMatchObject({
    "runt.dev/pod.namespace": "default",
    "runt.dev/pod.name": "web",
    "runt.dev/pod.uid": expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8/),
  });
  expect(first(one("").replace("  name: web", "  name: web\n  uid: u-1")).annotations["runt.dev/pod.uid"]).toBe("u-1");
});

test("P14 names that others have for separators are names like any other, and two pods of one name are refused", () => {
  const text = one("").replace("  name: web", "  name: a-b--c");
  expect(only(text).name).toBe("a-b--c");
  expect(told(`${text}---\n${text}`)).toEqual(["f:14:3: /metadata/name: the task a-b--c is there twice"]);
});

test("generateName without a name begins one: the same for the same text, and another one for a second object or another text", () => {
  const text = one("").replace("  name: web", "  generateName: web-");
  const name = only(text).name;
  expect(name).toMatch(/^web-[b-z2-9]{5}$/);
  expect(only(text).name).toBe(name);
  expect(only(text.replace("command: [", "command: [other, ")).name).not.toBe(name);
  const two = read(`${text}---\n${text}`).tasks.map((task) => task.name);
  expect([two[0], new Set(two).size]).toEqual([name, 2]);
  expect(only(one("").replace("  name: web", "  name: web\n  generateName: other-")).name).toBe("web");
});

test("JSON, fields that are null, what a cluster adds when it is read from there, and several pods", () => {
  const written = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", creationTimestamp: null, annotations: { "runt.dev/rootfs.a": "/r" } },
  };
  const text = JSON.stringify({
    ...written,
    spec: { containers: [{ name: "a", command: ["x"], env: null }], volumes: null },
    status: { phase: "Running" },
  });
  expect(only(text).name).toBe("web");
  expect(read(`${one("")}---\n${one("").replace("name: web", "name: other")}`).tasks.map(({ name }) => name)).toEqual(["web", "other"]);
});

test("P16 what is wrong is told all at once, and nothing of the file is taken", () => {
  const text = one(
    "    imagePullPolicy: Sometimes\n    enviroment: []\n    volumeDevices: [{}]\n    resources: { limits: { cpu: lots } }\n",
    "  schedulingGates: [{ name: x }]\n  restartPolicy: Maybe\n",
  );
  expect(read(text).tasks).toEqual([]);
  expect(told(text)).toEqual([
    'f:10:5: /spec/containers/0/imagePullPolicy: expected "Always", "IfNotPresent" or "Never"',
    'f:11:5: /spec/containers/0/enviroment: the field "enviroment" is not supported',
    "f:12:5: /spec/containers/0/volumeDevices: is not supported: there are no block volumes",
    'f:13:28: /spec/containers/0/resources/limits/cpu: write a quantity like "500m", "64Mi" or "1e3"',
    "f:14:3: /spec/schedulingGates: is not supported: nothing here would remove them",
    'f:15:3: /spec/restartPolicy: expected "Always", "OnFailure" or "Never"',
  ]);
});

test("what the engine refuses is told at the field of the pod it comes from", () => {
  const text = one(
    "    workingDir: relative\n    resources: { limits: { memory: 1Mi }, requests: { memory: 2Mi } }\n    securityContext: { capabilities: { add: [NO_SUCH] } }\n",
    "  volumes: [{ name: v, hostPath: { path: relative } }]\n",
  );
  expect(told(text)).toEqual([
    "f:10:5: /spec/containers/0/workingDir: is no absolute path",
    "f:13:36: /spec/volumes/0/hostPath/path: is no absolute path",
  ]);
  expect(told(text.replaceAll("relative", "/r"))).toEqual([
    "f:11:55: /spec/containers/0/resources/requests/memory: 2 MiB are more than the limit of 1 MiB",
    "f:12:46: /spec/containers/0/securityContext/capabilities/add/0: there is no capability CAP_NO_SUCH",
  ]);
});

test("other kinds and tasks beside pods are refused; a file without a pod is told of; tasks alone are tasks", () => {
  const KINDS =
    "Pod, Deployment, ReplicaSet, ReplicationController, DaemonSet, StatefulSet, Job, CronJob, ConfigMap, Secret, Service, PersistentVolumeClaim, PersistentVolume, Namespace, ServiceAccount";
  expect(told("apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n")).toEqual([
    "f:2:1: /kind: documents of kind NetworkPolicy are not supported: nothing here would keep connections away",
  ]);
  expect(told("apiVersion: v1\nkind: Endpoints\n")).toEqual([
    `f:2:1: /kind: documents of kind Endpoints are not supported: only ${KINDS}; --ignore-cluster-fields leaves them out`,
  ]);
  const none = read(CONFIG.replace("---\n", ""));
  expect([none.tasks, none.findings, none.warnings!.map(({ message }) => message)]).toEqual([
    [],
    [],
    ["the file has no pod in it: nothing runs"],
  ]);
  expect(told(`${one("")}---\nname: t\n`)).toEqual([`f:11:1: /kind: documents of kind undefined are not supported: only ${KINDS}`]);
  expect(read("name: t\ncontainers: [{ name: c, bundle: /b }]\n").tasks.map(({ name }) => name)).toEqual(["t"]);
});

test("P4 servers of names: with dnsPolicy None those of the pod", () => {
  const { volumes, network } = only(
    one(
      "",
      "  dnsPolicy: None\n  dnsConfig: { nameservers: [192.0.2.53], searches: [a.example], options: [{ name: ndots, value: '2' }, { name: edns0 }] }\n",
    ),
  );
  expect(network!.dns).toEqual({ servers: ["192.0.2.53"], search: ["a.example"], options: ["ndots:2", "edns0"] });
  expect(volumes).toEqual([]);
});

test("a runtime class is the runtime of the task; a pod of one container in a machine boots it, and shares nothing", () => {
  const shared = { ipc: "shared", network: "private" };
  expect(only(one("", "  runtimeClassName: vm\n"))).toMatchObject({ runtime: "vm", namespaces: { ipc: "private", network: "private" } });
  expect(only(one("", "  runtimeClassName: other\n"))).toMatchObject({ runtime: "other", namespaces: shared });
  expect(only(one(""))).not.toHaveProperty("runtime");
  const two = pod("  runtimeClassName: vm\n  containers:\n  - { name: a, command: [sh] }\n  - { name: b, command: [sh] }\n");
  expect(only(two).namespaces).toMatchObject(shared);
  expect(only(one("", "  runtimeClassName: vm\n  shareProcessNamespace: true\n")).namespaces).toMatchObject({ ...shared, pid: "shared" });
  const sysctls = "  securityContext: { sysctls: [{ name: kernel.msgmax, value: '1' }] }\n";
  expect(only(one("", `  runtimeClassName: vm\n${sysctls}`)).namespaces.ipc).toBe("shared");
});

test("a pod that asks for nothing of the network starts without one where the host has none, and every other one needs it", () => {
  const fallback = (fields: string, further = "") => only(one(fields, further)).network?.fallback;
  expect(fallback("    ports: [{ containerPort: 80 }]\n")).toBe("none");
  expect(fallback("", "  runtimeClassName: vm\n")).toBe("none");
  expect(fallback("    ports: [{ containerPort: 80, hostPort: 80 }]\n")).toBeUndefined();
  expect(fallback("    env: [{ name: IP, valueFrom: { fieldRef: { fieldPath: status.podIP } } }]\n")).toBeUndefined();
  expect(only(one("", "  hostNetwork: true\n"))).not.toHaveProperty("network");
});

test("a pod has a digest by which earlier versions, that gave it no network, knew it", () => {
  const known = (further: string) => earlierDigest(only(one("", `  restartPolicy: Never\n${further}`)));
  expect(known("")).toBe("sha256:707e345a2aefa64d9553a9d3f89a4f1ab7d4f2b6a451ab6eb64a1b33cd779381");
  expect(known("  dnsConfig: { nameservers: [192.0.2.53] }\n")).toBe(
    "sha256:1c32dd9c9ed3c6702fda54fcf6d8420a5834c5f66bfec8a7fd90bb64a82495fe",
  );
  expect(known("  hostIPC: true\n")).toBe("sha256:fa729fc1186db892bef991a09789289490b51611b1a95974aa28dd9012e5a998");
  expect(known("  runtimeClassName: vm\n")).toBe("sha256:5598b6283b28c7447ee72a3bd937163ce0364829f4cac270210150382d652551");
  expect(known("  hostNetwork: true\n")).toBeUndefined();
  expect(earlierDigest(only(one("    ports: [{ containerPort: 80, hostPort: 80 }]\n")))).toBeUndefined();
});

test("users of its own: a user namespace of the task, which procMount Unmasked needs", () => {
  const text = one("    image: docker://r.example/a:v1\n    securityContext: { procMount: Unmasked }\n", "  hostUsers: false\n");
  const task = only(text.replace("runt.dev/rootfs.a: /srv/a, ", ""));
  expect(task).toMatchObject({ privateUsers: true, containers: [{ unmasked: true }] });
  expect(only(one("", "  hostUsers: true\n"))).not.toHaveProperty("privateUsers");
  const told70000 = told(text.replace("runt.dev/rootfs.a: /srv/a, ", "").replace("procMount: Unmasked", "runAsUser: 70000"));
  expect(told70000).toEqual(["f:11:24: /spec/containers/0/securityContext/runAsUser: with privateUsers ids are below 65536"]);
});

test("of a key that is there twice the last value counts, as for kubectl, and that is told; in a task it is refused", () => {
  const { tasks, findings, warnings = [] } = read(one("    workingDir: /one\n    workingDir: /two\n"));
  expect([findings, tasks[0]!.containers[0]!.cwd]).toEqual([[], "/two"]);
  expect(warnings.map(({ line, column, message }) => [line, column, message])).toEqual([
    [11, 5, 'the key "workingDir" is there twice: the last value counts'],
  ]);
  // What is wrong with the value is told where it stands.
  expect(told(one("    workingDir: /one\n    workingDir: two\n"))).toEqual(["f:11:5: /spec/containers/0/workingDir: is no absolute path"]);
  const list = `apiVersion: v1\nkind: List\nkind: List\nitems: []\n`;
  expect(read(list).warnings!.map(({ message }) => message)).toContain('the key "kind" is there twice: the last value counts');
  for (const text of ["name: t\nname: u\ncontainers: [{ name: c, bundle: /b }]\n", "kind: Pool\nname: p\nname: q\n"])
    expect(told(text)).toContainEqual(expect.stringContaining('the key "name" is there twice'));
});

test("values that are empty count as absent, as for Kubernetes: empty lists and texts, and 0 where it means the default", () => {
  const text = one(
    "    volumeDevices: []\n    resources: { claims: [] }\n    readinessProbe: { exec: { command: [x] }, periodSeconds: 0, timeoutSeconds: 0, failureThreshold: 0, successThreshold: 0 }\n    livenessProbe: { exec: { command: [x] }, successThreshold: 0 }\n",
    "  ephemeralContainers: []\n  schedulingGates: []\n  resourceClaims: []\n",
  ).replace("  name: web", '  name: web\n  namespace: ""\n  finalizers: []\n  ownerReferences: []');
  const { healthCheck, annotations } = first(text);
  expect(healthCheck).toMatchObject({ interval: 10_000, timeout: 1000, retries: 3 });
  expect(healthCheck).not.toHaveProperty("successes");
  expect(annotations["runt.dev/pod.namespace"]).toBe("default");
  const account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: a }\nimagePullSecrets: []\n---\n";
  const service =
    'apiVersion: v1\nkind: Service\nmetadata: { name: s }\nspec: { ports: [{ port: 80 }], loadBalancerIP: "", externalIPs: [], loadBalancerSourceRanges: [], externalName: "", healthCheckNodePort: 0 }\n---\n';
  const claim =
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: c, finalizers: [kubernetes.io/pvc-protection] }\nspec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } }, selector: { matchExpressions: [] } }\n---\n";
  expect(told(account + service + claim + one(""))).toEqual([]);
  expect(told(claim.replace("pvc-protection", "other"))).toEqual([expect.stringContaining("/metadata/finalizers: is not supported")]);
});

test("null in a map of texts is an empty text, and no missing key", () => {
  const config = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: conf }\ndata:\n  FOO:\n---\n";
  expect(first(config + one("    envFrom: [{ configMapRef: { name: conf } }]\n")).env).toEqual({ FOO: "" });
  const service = "apiVersion: v1\nkind: Service\nmetadata: { name: s }\nspec: { clusterIP: None, selector: { app: null } }\n---\n";
  expect(read(service + one("").replace("  name: web", "  name: web\n  labels: { app: }")).warnings ?? []).toEqual([]);
});

test("a policy that permits every connection is accepted, and any other one is refused", () => {
  const policy = (spec: string) =>
    `apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: { name: p }\nspec: { podSelector: {}, ${spec} }\n---\n${one("")}`;
  const { tasks, findings, warnings = [] } = read(policy("ingress: [{}]"));
  expect([tasks.length, findings, warnings]).toEqual([1, [], []]);
  expect(told(policy("ingress: []"))).toEqual([expect.stringContaining("documents of kind NetworkPolicy are not supported")]);
});

test("labels and their values have the form of Kubernetes", () => {
  const labelled = (labels: string) => told(one("").replace("  name: web", `  name: web\n  labels: ${labels}`));
  expect(labelled('{ app.kubernetes.io/name: "", a_b: X.1-z }')).toEqual([]);
  expect(labelled('{ app: "my app" }')).toEqual([expect.stringContaining("/metadata/labels/app: is no value of a label")]);
  expect(labelled(`{ app: ${"a".repeat(64)} }`)).toEqual([expect.stringContaining("is no value of a label")]);
  expect(labelled("{ /app: a }")).toEqual([expect.stringContaining("is no key of a label")]);
});

test("limits beyond what any host has are those that a host can count", () => {
  expect(first(one("    resources: { limits: { memory: 16Ei } }\n")).memory).toBe(Number.MAX_SAFE_INTEGER);
  const both = pod(
    "  containers:\n  - { name: a, command: [sh], resources: { limits: { memory: 16Ei } } }\n  - { name: b, command: [sh], resources: { limits: { memory: 16Ei } } }\n",
  );
  expect(only(both).memory).toBe(Number.MAX_SAFE_INTEGER);
});

test("names of variables are printable characters of ASCII without =", () => {
  expect(first(one('    env: [{ name: 1ST, value: a }, { name: "a b", value: c }]\n')).env).toEqual({ "1ST": "a", "a b": "c" });
  expect(told(one('    env: [{ name: "a=b", value: c }]\n'))).toEqual([expect.stringContaining("a variable has printable characters")]);
});

test("a pod with the network of the host has the host's /etc/hosts with its own lines", () => {
  const text = one("", "  hostNetwork: true\n  hostAliases: [{ ip: 10.0.0.1, hostnames: [db] }]\n");
  const given = (hosts?: string | null) => {
    const {
      tasks,
      findings,
      warnings = [],
    } = parseFile(text, { name: "n", cpus: 1, memoryBytes: 1, ...(hosts === undefined ? {} : { hosts }) });
    expect(findings).toEqual([]);
    return [tasks[0]!.volumes[0]!.files!["hosts"]!.content, warnings.map(({ pointer }) => pointer)];
  };
  expect(given("192.0.2.9\tbox\n\n")).toEqual(["192.0.2.9\tbox\n10.0.0.1\tdb\n", []]);
  expect(given()).toEqual([expect.stringMatching(/^127\.0\.0\.1\tlocalhost\n.*\n10\.0\.0\.1\tdb\n$/), []]);
  expect(given(null)[1]).toEqual(["/spec/hostAliases"]);
});

test("empty documents are none, as for kubectl", () => {
  expect(
    read(`---\n# a comment\n---\n${one("")}---\n---\n${one("").replace("name: web", "name: other")}---\n`).tasks.map(({ name }) => name),
  ).toEqual(["web", "other"]);
  expect(told("---\n---\n").length).toBeGreaterThan(0);
});
