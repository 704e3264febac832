import { expect, test } from "vitest";
import { renderFinding } from "../engine/spec/index.ts";
import { parseFile } from "./index.ts";

const HOST = { name: "node-1", cpus: 4, memoryBytes: 8 * 1024 ** 3 };
const read = (text: string) => parseFile(text, HOST);
/** "line:column pointer message" of every finding. */
const told = (text: string) => read(text).findings.map((one) => renderFinding(one, "f"));

const HEAD = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  annotations: { runt.dev/rootfs.a: /srv/a, runt.dev/rootfs.b: /srv/b }\n";
const pod = (spec: string) => `${HEAD}spec:\n${spec}`;
const one = (fields: string, further = "") => pod(`  containers:\n  - name: a\n    command: [sh]\n${fields}${further}`);
const only = (text: string) => {
  const { tasks, findings } = read(text);
  expect(findings).toEqual([]);
  expect(tasks).toHaveLength(1);
  return tasks[0]!;
};
const first = (text: string) => only(text).containers[0]!;

test("P3 P9 a pod becomes one task: its containers share the network and ipc, and nothing of the host", () => {
  const task = only(pod("  containers:\n  - { name: a, command: [sh] }\n  - { name: b, command: [sh] }\n"));
  expect(task).toMatchObject({
    name: "web",
    namespaces: { pid: "private", ipc: "shared", network: "shared", uts: "private" },
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

test("P4 command and args with variables, working directory, and the environment in its order", () => {
  const container = first(
    one(
      '    args: ["$(GREETING), $(WHO)", "$$(WHO)", "$(NOBODY)"]\n    workingDir: /srv\n    env:\n    - { name: WHO, value: world }\n    - { name: GREETING, value: "hello $(WHO)$(LATER)" }\n    - { name: LATER, value: x }\n',
    ),
  );
  expect(container).toMatchObject({
    command: "sh",
    args: ["hello world$(LATER), world", "$(WHO)", "$(NOBODY)"],
    cwd: "/srv",
    env: { WHO: "world", GREETING: "hello world$(LATER)", LATER: "x" },
  });
});

const CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: conf }\ndata: { PORT: "80", app.ini: "a=1" }\n---\n';
const SECRET = "apiVersion: v1\nkind: Secret\nmetadata: { name: keys }\ndata: { TOKEN: czNjcjN0 }\nstringData: { PLAIN: text }\n---\n";

test("P4 env and envFrom of ConfigMaps and Secrets of the file", () => {
  const text =
    CONFIG +
    SECRET +
    one(
      "    envFrom:\n    - { prefix: C_, configMapRef: { name: conf } }\n    - { secretRef: { name: keys } }\n    env:\n    - { name: P, valueFrom: { configMapKeyRef: { name: conf, key: PORT } } }\n    - { name: T, valueFrom: { secretKeyRef: { name: keys, key: TOKEN } } }\n    - { name: N, valueFrom: { secretKeyRef: { name: keys, key: none, optional: true } } }\n",
    );
  expect(first(text).env).toEqual({ C_PORT: "80", "C_app.ini": "a=1", TOKEN: "s3cr3t", PLAIN: "text", P: "80", T: "s3cr3t" });
});

test("a ConfigMap, key or volume that is not there is told at its place", () => {
  const text = `${CONFIG}${one(
    "    envFrom: [{ secretRef: { name: keys } }]\n    env:\n    - name: P\n      valueFrom:\n        configMapKeyRef: { name: conf, key: nothing }\n    volumeMounts: [{ name: data, mountPath: /d }]\n",
  )}`;
  expect(told(text)).toEqual([
    "f:15:30: /spec/containers/0/envFrom/0/secretRef/name: the file has no Secret keys in namespace default",
    "f:19:40: /spec/containers/0/env/0/valueFrom/configMapKeyRef/key: ConfigMap conf has no key nothing",
    "f:20:22: /spec/containers/0/volumeMounts/0/name: the pod has no volume data",
  ]);
});

test("P4 fieldRef and resourceFieldRef say what the pod is, and what the host has where nothing is limited", () => {
  const ref = (name: string, source: string) => `    - { name: ${name}, valueFrom: { ${source} } }\n`;
  const container = first(
    one(
      `    resources: { limits: { memory: 64Mi }, requests: { cpu: 250m } }\n    env:\n${ref("NAME", "fieldRef: { fieldPath: metadata.name }")}${ref("NODE", "fieldRef: { fieldPath: spec.nodeName }")}${ref("LABEL", `fieldRef: { fieldPath: "metadata.labels['app']" }`)}${ref("MEMORY", "resourceFieldRef: { resource: limits.memory, divisor: 1Mi }")}${ref("CPU", "resourceFieldRef: { resource: limits.cpu }")}${ref("ASKED", "resourceFieldRef: { resource: requests.cpu, divisor: 1m }")}`,
    ).replace("  name: web", "  name: web\n  labels: { app: shop }"),
  );
  expect(container.env).toEqual({ NAME: "web", NODE: "node-1", LABEL: "shop", MEMORY: "64", CPU: "4", ASKED: "250" });
});

test("P6 limits and requests become limits of the kernel; a request that is not given is the limit", () => {
  const container = (resources: string) => first(one(`    resources: ${resources}\n`));
  expect(container("{ limits: { cpu: 0.1, memory: 0.5Gi } }")).toMatchObject({
    cpus: 0.1,
    cpuShares: 102,
    memory: 2 ** 29,
    memoryReservation: 2 ** 29,
  });
  expect(container("{ requests: { cpu: 500m, memory: 1e3 } }")).toMatchObject({ cpuShares: 512, memoryReservation: 1000 });
  expect(container("{ requests: { cpu: 500m, memory: 1e3 } }")).not.toHaveProperty("memory");
  expect(container("{}")).not.toHaveProperty("cpuShares");
});

test("P7 the pod has the sum of its containers, or what its largest init container needs", () => {
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

test("volumes: scratch, of the host with its type, and files of ConfigMaps, Secrets, the pod itself and projections", () => {
  const mount = (name: string) => `    - { name: ${name}, mountPath: /${name} }\n`;
  const text = `${CONFIG}${SECRET}${one(
    `    volumeMounts:\n${["tmp", "dir", "conf", "keys", "self", "all"].map(mount).join("")}    - { name: conf, mountPath: /etc/app.ini, subPath: app.ini }\n`,
    `  volumes:
  - { name: tmp, emptyDir: {} }
  - { name: dir, hostPath: { path: /srv/data, type: Directory } }
  - { name: conf, configMap: { name: conf, items: [{ key: app.ini, path: app.ini, mode: 0o600 }] } }
  - { name: keys, secret: { secretName: keys, defaultMode: 0o400 } }
  - { name: self, downwardAPI: { items: [{ path: labels, fieldRef: { fieldPath: metadata.labels } }] } }
  - { name: all, projected: { sources: [{ secret: { name: keys, items: [{ key: TOKEN, path: a/token }] } }, { configMap: { name: conf } }] } }
`,
  )}`.replace("  name: web", "  name: web\n  labels: { app: shop }");
  const { volumes, containers } = only(text);
  const utf8 = (content: string, mode = 0o644) => ({ content, encoding: "utf8", mode });
  expect(volumes).toEqual([
    { name: "tmp" },
    { name: "dir", host: "/srv/data", hostType: "Directory" },
    { name: "conf", files: { "app.ini": utf8("a=1", 0o600) } },
    { name: "keys", files: { TOKEN: { content: "czNjcjN0", encoding: "base64", mode: 0o400 }, PLAIN: utf8("text", 0o400) } },
    { name: "self", files: { labels: utf8('app="shop"\n') } },
    {
      name: "all",
      files: { "a/token": { content: "czNjcjN0", encoding: "base64", mode: 0o644 }, PORT: utf8("80"), "app.ini": utf8("a=1") },
    },
  ]);
  expect(containers[0]!.mounts).toEqual([
    { volume: "tmp", target: "/tmp", readOnly: false },
    { volume: "dir", target: "/dir", readOnly: false },
    ...["conf", "keys", "self", "all"].map((name) => ({ volume: name, target: `/${name}`, readOnly: true })),
    { volume: "conf", subPath: "app.ini", target: "/etc/app.ini", readOnly: true },
  ]);
});

test("rights of the pod and of the container, the container's first", () => {
  const text = one(
    "    securityContext: { runAsUser: 7, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { add: [NET_ADMIN], drop: [ALL] } }\n",
    "  securityContext: { runAsUser: 5, runAsGroup: 6, runAsNonRoot: true, seccompProfile: { type: Unconfined } }\n",
  );
  expect(first(text)).toMatchObject({
    user: "7:6",
    noNewPrivileges: true,
    readonlyRootfs: true,
    capabilities: { add: ["CAP_NET_ADMIN"], drop: ["ALL"] },
    seccomp: "unconfined",
  });
  expect(first(one("")).noNewPrivileges).toBe(false);
  expect(told(one("    securityContext: { runAsNonRoot: true }\n"))).toEqual([
    "f:10:24: /spec/containers/0/securityContext/runAsNonRoot: runAsNonRoot needs a runAsUser that is not 0",
  ]);
});

test("standard input and terminal for whoever attaches", () => {
  expect(first(one("    stdin: true\n    tty: true\n"))).toMatchObject({ stdin: true, tty: true });
  expect(first(one(""))).not.toHaveProperty("stdin");
});

test("P4 probes and hooks: each with its way, its times and its thresholds, and the grace period", () => {
  const text = one(
    `    ports: [{ name: web, containerPort: 8080 }]
    startupProbe: { httpGet: { path: /up, port: web, httpHeaders: [{ name: X-A, value: b }] }, failureThreshold: 30 }
    livenessProbe: { tcpSocket: { port: 81, host: 10.0.0.7 }, timeoutSeconds: 4 }
    readinessProbe: { exec: { command: [ok] }, initialDelaySeconds: 3, periodSeconds: 2, failureThreshold: 5, successThreshold: 2 }
    lifecycle: { postStart: { exec: { command: [hi] } }, preStop: { exec: { command: [bye] } } }
`,
    "  terminationGracePeriodSeconds: 7\n",
  );
  const container = first(text);
  expect(container).toMatchObject({
    startupCheck: {
      http: { port: 8080, path: "/up", address: "127.0.0.1", headers: { "X-A": "b" } },
      interval: 10_000,
      timeout: 1000,
      retries: 30,
    },
    livenessCheck: { tcp: { port: 81, address: "10.0.0.7" }, timeout: 4000, retries: 3 },
    healthCheck: { command: ["ok"], interval: 2000, timeout: 1000, retries: 5, initialDelay: 3000, successes: 2 },
    postStart: { command: ["hi"] },
    preStop: { command: ["bye"], timeout: 7000 },
    stopTimeout: 7000,
  });
  expect(container.livenessCheck).not.toHaveProperty("initialDelay");
  expect(first(one("    livenessProbe: { grpc: { port: 9, service: s } }\n")).livenessCheck!.grpc).toEqual({
    port: 9,
    service: "s",
    address: "127.0.0.1",
  });
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
  const { volumes, containers } = only(one("", "  hostAliases: [{ ip: 10.0.0.1, hostnames: [db, db.local] }]\n"));
  expect(volumes[0]!.files!["hosts"]!.content).toContain("10.0.0.1\tdb\tdb.local\n");
  expect(containers[0]!.mounts).toEqual([{ volume: "etc_files", subPath: "hosts", target: "/etc/hosts", readOnly: true }]);
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
    "    imagePullPolicy: Sometimes\n    enviroment: []\n    volumeDevices: []\n    resources: { limits: { cpu: lots } }\n",
    "  imagePullSecrets: [{ name: x }]\n  restartPolicy: Maybe\n",
  );
  expect(read(text).tasks).toEqual([]);
  expect(told(text)).toEqual([
    "f:10:5: /spec/containers/0/imagePullPolicy: only Always and IfNotPresent are supported: an image that is not there is got",
    'f:11:5: /spec/containers/0/enviroment: the field "enviroment" is not supported',
    "f:12:5: /spec/containers/0/volumeDevices: is not supported: there are no block volumes",
    'f:13:28: /spec/containers/0/resources/limits/cpu: write a quantity like "500m", "64Mi" or "1e3"',
    "f:14:3: /spec/imagePullSecrets: is not supported: images are not pulled with secrets of a pod",
    'f:15:3: /spec/restartPolicy: Invalid option: expected one of "Always"|"OnFailure"|"Never"',
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

test("other kinds, a file without a pod, and tasks beside pods are refused; tasks alone are tasks", () => {
  expect(told("apiVersion: apps/v1\nkind: StatefulSet\n")).toEqual([
    "f:2:1: /kind: documents of kind StatefulSet are not supported: only Pod, Deployment, Job, ConfigMap, Secret",
  ]);
  expect(told(CONFIG.replace("---\n", ""))).toEqual(["f:2:1: /kind: the file has no pod in it"]);
  expect(told(`${one("")}---\nname: t\n`)).toEqual([
    "f:11:1: /kind: documents of kind undefined are not supported: only Pod, Deployment, Job, ConfigMap, Secret",
  ]);
  expect(read("name: t\ncontainers: [{ name: c, bundle: /b }]\n").tasks.map(({ name }) => name)).toEqual(["t"]);
});

test("P4 an image with its pull policy; a command takes the place of its entrypoint and arguments, arguments alone that of its arguments", () => {
  const container = (fields: string) =>
    only(`apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec:\n  containers:\n  - { name: a, ${fields} }\n`).containers[0]!;
  expect(container("image: registry.example/web:v1")).toMatchObject({
    image: "docker://registry.example/web:v1",
    pullPolicy: "prefer-cached",
    args: [],
  });
  expect(container("image: registry.example/web:v1")).not.toHaveProperty("command");
  expect(container("image: registry.example/web, args: [-p]")).toMatchObject({ pullPolicy: "always", args: ["-p"] });
  expect(container("image: registry.example/web, imagePullPolicy: IfNotPresent, command: [a, b], args: [c]")).toMatchObject({
    pullPolicy: "prefer-cached",
    command: "a",
    args: ["b", "c"],
  });
  const wrong = (fields: string) =>
    told(`apiVersion: v1\nkind: Pod\nmetadata: { name: web }\nspec:\n  containers:\n  - name: a\n    ${fields}\n`);
  expect(wrong("image: nginx")).toEqual([
    "f:7:5: /spec/containers/0/image: names no registry: write HOST/NAME, or say with RUNT_IMAGES where such names are looked for",
  ]);
  expect(wrong("image: a.b/c@sha256:12")).toEqual([expect.stringMatching(/^f:7:5: \/spec\/containers\/0\/image: write oci:DIR/)]);
  expect(wrong("command: [x]")).toEqual([
    "f:6:5: /spec/containers/0/image: needs an image, or its root file system as annotation runt.dev/rootfs.a of the pod",
  ]);
});

test("P4 scratch volumes in memory and with a size, whose group the pod has, and kernel parameters", () => {
  const task = only(
    one(
      "    volumeMounts: [{ name: m, mountPath: /m }]\n",
      `  securityContext: { fsGroup: 77, supplementalGroups: [5, 77], sysctls: [{ name: kernel.shm_rmid_forced, value: "1" }] }
  volumes:
  - { name: m, emptyDir: { medium: Memory, sizeLimit: 1Mi } }
  - { name: d, emptyDir: { sizeLimit: 2Mi } }
  - { name: n, emptyDir: { sizeLimit: 0 } }
  - { name: h, hostPath: { path: /srv } }
`,
    ),
  );
  expect(task.volumes).toEqual([
    { name: "m", medium: "memory", size: 2 ** 20, group: 77 },
    { name: "d", size: 2 ** 21, group: 77 },
    { name: "n", group: 77 },
    { name: "h", host: "/srv" },
  ]);
  expect(task.containers[0]!.groups).toEqual([5, 77]);
  expect(task.sysctls).toEqual({ "kernel.shm_rmid_forced": "1" });
  expect(told(one("", '  hostIPC: true\n  securityContext: { sysctls: [{ name: kernel.sem, value: "1" }] }\n'))).toEqual([
    expect.stringContaining("/spec/securityContext/sysctls: needs a namespaces.ipc: shared"),
  ]);
});

test("P4 servers of names: with dnsPolicy None those of the pod", () => {
  const { volumes, containers } = only(
    one(
      "",
      "  dnsPolicy: None\n  dnsConfig: { nameservers: [192.0.2.53], searches: [a.example], options: [{ name: ndots, value: '2' }, { name: edns0 }] }\n",
    ),
  );
  expect(volumes[0]!.files!["resolv.conf"]!.content).toBe("nameserver 192.0.2.53\nsearch a.example\noptions ndots:2 edns0\n");
  expect(containers[0]!.mounts).toEqual([{ volume: "etc_files", subPath: "resolv.conf", target: "/etc/resolv.conf", readOnly: true }]);
  expect(only(one("", "  dnsPolicy: Default\n")).volumes).toEqual([]);
});

/** YAML 1.1, which Kubernetes reads: modes of its examples begin with 0. */
test("P4 a mode that begins with 0 is octal", () => {
  const { volumes } = only(CONFIG + one("", "  volumes: [{ name: c, configMap: { name: conf, defaultMode: 0400 } }]\n"));
  expect(Object.values(volumes[0]!.files!).map(({ mode }) => mode)).toEqual([0o400, 0o400]);
});
