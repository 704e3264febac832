import { expect, test } from "vitest";
import { CONFIG, first, one, only, pod, SECRET, told } from "../../../test/support/engine/pod-file.ts";
import { parseFile } from "../index.ts";

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

test("P4 the file for the message of its end: the default, another one, and none within a volume of the pod that nobody has asked for", () => {
  expect(first(one("")).endMessage).toEqual({ path: "/dev/termination-log", orLog: false });
  expect(first(one('    terminationMessagePath: ""\n    terminationMessagePolicy: FallbackToLogsOnError\n')).endMessage).toEqual({
    path: "/dev/termination-log",
    orLog: true,
  });
  expect(first(one("    terminationMessagePath: tmp/end\n")).endMessage).toEqual({ path: "/tmp/end", orLog: false });
  const within = (target: string, more = "") =>
    `${one(`    volumeMounts: [{ name: v, mountPath: ${target} }]\n${more}`)}  volumes: [{ name: v, emptyDir: {} }]\n`;
  expect(first(within("/dev/")).endMessage).toBeUndefined();
  expect(first(within("/dev/term")).endMessage).toBeDefined();
  expect(first(within("/v", "    terminationMessagePath: /v/end\n")).endMessage).toEqual({ path: "/v/end", orLog: false });
  expect(told(within("/end", "    terminationMessagePath: /end\n"))).toEqual([
    expect.stringMatching(/: \/spec\/containers\/0\/terminationMessagePath: something else has the target \/end, too$/),
  ]);
});

test("P6 limits and requests become limits of the kernel; a request that is not given is the limit", () => {
  const container = (resources: string) => first(one(`    resources: ${resources}\n`));
  expect(container("{ limits: { cpu: 0.1, memory: 0.5Gi } }")).toMatchObject({
    cpus: 0.1,
    cpuShares: 102,
    memory: 2 ** 29,
    memoryReservation: 2 ** 29,
  });
  expect(container("{ limits: { hugepages-2Mi: 4Mi, hugepages-1Gi: 0, cpu: 1 } }")).toMatchObject({
    hugepages: { "2MB": 4 * 1024 * 1024, "1GB": 0 },
  });
  expect(container("{ requests: { cpu: 500m, memory: 1e3 } }")).toMatchObject({ cpuShares: 512, memoryReservation: 1000 });
  expect(container("{ requests: { cpu: 500m, memory: 1e3 } }")).not.toHaveProperty("memory");
  expect(container("{}")).not.toHaveProperty("cpuShares");
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
  // The user of the image decides, when it has been pulled.
  expect(first(one("    securityContext: { runAsNonRoot: true }\n"))).toMatchObject({ runAsNonRoot: true });
  expect(first(text)).not.toHaveProperty("runAsNonRoot");
  expect(told(one("    securityContext: { runAsNonRoot: true, runAsUser: 0 }\n"))).toEqual([
    "f:10:24: /spec/containers/0/securityContext/runAsNonRoot: container's runAsUser breaks non-root policy",
  ]);
});

test("a privileged container has no filter of system calls, whatever the pod says for its containers, and can gain privileges", () => {
  const spec = "  securityContext: { seccompProfile: { type: RuntimeDefault } }\n";
  const container = first(one("    securityContext: { privileged: true, capabilities: { add: [SYS_ADMIN] } }\n", spec));
  expect(container).toMatchObject({ privileged: true, noNewPrivileges: false, capabilities: { add: ["CAP_SYS_ADMIN"] } });
  expect(container).not.toHaveProperty("seccomp");
  expect(first(one("    securityContext: { privileged: false }\n"))).not.toHaveProperty("privileged");
});

test("standard input and terminal for whoever attaches", () => {
  expect(first(one("    stdin: true\n    tty: true\n"))).toMatchObject({ stdin: true, tty: true });
  expect(first(one("    stdin: true\n    stdinOnce: true\n"))).toMatchObject({ stdin: "once" });
  expect(first(one("    stdinOnce: true\n"))).not.toHaveProperty("stdin");
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
    preStop: { command: ["bye"], withinStopTimeout: true },
    stopTimeout: 7000,
  });
  expect(container.livenessCheck).not.toHaveProperty("initialDelay");
  expect(first(one("    livenessProbe: { grpc: { port: 9, service: s } }\n")).livenessCheck!.grpc).toEqual({
    port: 9,
    service: "s",
    address: "127.0.0.1",
  });
});

test("P4 hooks by HTTP and by waiting; a probe with a grace period of its own", () => {
  const lifecycle = (hooks: string, more = "  terminationGracePeriodSeconds: 7\n") =>
    one(`    ports: [{ name: web, containerPort: 8080 }]\n    lifecycle: ${hooks}\n`, more);
  expect(
    first(lifecycle("{ postStart: { sleep: { seconds: 2 } }, preStop: { httpGet: { path: bye, port: web, scheme: HTTPS } } }")),
  ).toMatchObject({
    postStart: { sleep: 2000 },
    preStop: { http: { port: 8080, path: "/bye", address: "127.0.0.1", tls: true }, withinStopTimeout: true },
  });
  expect(told(lifecycle("{ preStop: { sleep: { seconds: 8 } } }"))).toEqual([
    "f:11:38: /spec/containers/0/lifecycle/preStop/sleep/seconds: is longer than terminationGracePeriodSeconds (7)",
  ]);
  expect(told(lifecycle("{ postStart: { tcpSocket: { port: 1 } }, preStop: { } }"))).toEqual([
    expect.stringContaining("/lifecycle/postStart/tcpSocket: is not supported: no kubelet runs it: write exec, httpGet or sleep"),
    expect.stringContaining("/lifecycle/preStop: needs one of exec, httpGet and sleep"),
  ]);
  expect(told(lifecycle("{ preStop: { httpGet: { port: none } } }"))).toEqual([
    expect.stringContaining("/lifecycle/preStop/httpGet/port: the container has no port none"),
  ]);
  // Source: "Pod Lifecycle": with a grace period of 0 the kubelet ends a container at once.
  expect(first(lifecycle("{ preStop: { exec: { command: [bye] } } }", "  terminationGracePeriodSeconds: 0\n"))).not.toHaveProperty(
    "preStop",
  );
  const probe = (kind: string) => one(`    ${kind}: { exec: { command: [ok] }, terminationGracePeriodSeconds: 3 }\n`);
  expect(first(probe("livenessProbe")).livenessCheck).toMatchObject({ stopTimeout: 3000 });
  expect(first(probe("startupProbe")).startupCheck).toMatchObject({ stopTimeout: 3000 });
  expect(told(probe("readinessProbe"))).toEqual([
    expect.stringContaining(
      "/readinessProbe/terminationGracePeriodSeconds: is not supported: a container that is not ready is not stopped",
    ),
  ]);
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
  // Where nothing is said of names without a registry they are those of Docker Hub, as for the runtimes of a kubelet.
  expect(container("image: nginx:1.25").image).toBe("docker://docker.io/library/nginx:1.25");
  expect(container("image: shop/web").image).toBe("docker://docker.io/shop/web:latest");
  expect(wrong("image: a.b/c@sha256:12")).toEqual([expect.stringMatching(/^f:7:5: \/spec\/containers\/0\/image: write oci:DIR/)]);
  expect(wrong("command: [x]")).toEqual([
    "f:6:5: /spec/containers/0/image: needs an image, or its root file system as annotation runt.dev/rootfs.a of the pod",
  ]);
});

/** Kubernetes, "Pod Lifecycle", "Container restart rules": a rule applies to its exit codes, the policy to all others. */
test("P4 a container is started again by a policy and rules of its own, whatever the pod does with its others", () => {
  const ignored = (fields: string) => first(one(fields, "  restartPolicy: Never\n")).restart?.ignoredExitCodes;
  expect(ignored("    restartPolicy: Always\n")).toEqual([]);
  expect(ignored("    restartPolicy: OnFailure\n")).toEqual([0]);
  expect(ignored("    restartPolicy: Never\n")).toBe(undefined);
  const rule = (policy: string, operator: string, values: string) =>
    ignored(
      `    restartPolicy: ${policy}\n    restartPolicyRules: [{ action: Restart, exitCodes: { operator: ${operator}, values: [${values}] } }]\n`,
    );
  expect(rule("Never", "In", "42, 43")).toEqual(
    Array.from({ length: 256 }, (_, code) => code).filter((code) => code !== 42 && code !== 43),
  );
  expect(rule("Never", "NotIn", "0, 3")).toEqual([0, 3]);
  expect(rule("OnFailure", "In", "0")).toEqual([]);
  const init = (policy: string) =>
    only(
      pod(`  initContainers:\n  - { name: b, command: [sh], restartPolicy: ${policy} }\n  containers:\n  - { name: a, command: [sh] }\n`),
    ).containers[0];
  expect(init("Never")).not.toHaveProperty("restart");
  expect(init("OnFailure")!.restart!.ignoredExitCodes).toEqual([0]);
});

test("P4 a stop signal, all capabilities, a filter of the host's, groups that the image does not add, and a path with variables", () => {
  expect(first(one("    lifecycle: { stopSignal: SIGUSR1 }\n", "  os: { name: linux }\n")).stopSignal).toBe("SIGUSR1");
  const { capabilities } = first(one("    securityContext: { capabilities: { add: [all], drop: [All] } }\n"));
  expect(capabilities!.drop).toEqual(["ALL"]);
  expect(capabilities!.add).toContain("CAP_SYS_ADMIN");
  const localhost = "    securityContext: { seccompProfile: { type: Localhost, localhostProfile: profiles/a.json } }\n";
  expect(first(one(localhost)).seccomp).toBe("/var/lib/kubelet/seccomp/profiles/a.json");
  const strict = "  securityContext: { supplementalGroupsPolicy: Strict, supplementalGroups: [7] }\n";
  expect(first(one("", strict))).toMatchObject({ strictGroups: true, groups: [7] });
  expect(first(one("", strict.replace("Strict", "Merge")))).not.toHaveProperty("strictGroups");
  expect(first(one("    securityContext: { appArmorProfile: { type: Unconfined } }\n"))).not.toHaveProperty("seccomp");
  const volume = "  volumes: [{ name: v, hostPath: { path: /srv/v } }]\n";
  const mounted = (path: string) =>
    one(`    env: [{ name: WHO, value: me }]\n    volumeMounts: [{ name: v, mountPath: /v, subPathExpr: ${path} }]\n`, volume);
  expect(first(mounted("logs/$(WHO)")).mounts).toMatchObject([{ subPath: "logs/me" }]);
  expect(told(mounted("logs/$(NOBODY)"))).toEqual([
    expect.stringMatching(/volumeMounts\/0\/subPathExpr: the container has no variable for \$\(NOBODY\)$/),
  ]);
  expect(first(one("    ports: [{ containerPort: 80, protocol: SCTP }]\n")).name).toBe("a");
});

test("P6 huge pages of the whole pod are limits of the task; its containers together have at most as many", () => {
  const text = (own: string, whole: string) =>
    one(`    resources: { limits: { hugepages-2Mi: ${own}, cpu: 1 } }\n`, `  resources: { limits: { hugepages-2Mi: ${whole}, cpu: 1 } }\n`);
  expect(only(text("2Mi", "4Mi")).hugepages).toEqual({ "2MB": 4 * 1024 * 1024 });
  expect(told(text("4Mi", "2Mi"))).toEqual([
    expect.stringMatching(/: \/spec\/resources\/limits\/hugepages-2Mi: is less than its containers have$/),
  ]);
  expect(told(text("2Mi", "3Mi"))).toEqual([
    expect.stringMatching(/: \/spec\/resources\/limits\/hugepages-2Mi: is no whole number of pages$/),
  ]);
});

test("P4 a limit that is to be changed by a restart is part of the container, and replaces it", () => {
  const resized = (policy: string, memory: string) =>
    first(one(`    resources: { limits: { memory: ${memory} } }\n    resizePolicy: [{ resourceName: memory, restartPolicy: ${policy} }]\n`))
      .annotations;
  expect(resized("NotRequired", "1Gi")).toEqual(resized("NotRequired", "2Gi"));
  expect(resized("RestartContainer", "1Gi")).not.toEqual(resized("RestartContainer", "2Gi"));
});

test("P4 the address of the pod is a variable that the engine knows, so that there is a network; that of the host is known", () => {
  const ref = (name: string, path: string) => `    - { name: ${name}, valueFrom: { fieldRef: { fieldPath: ${path} } } }\n`;
  const env = `    env:\n${ref("POD_IP", "status.podIP")}${ref("HOST_IP", "status.hostIP")}    args: ["-b", "$(POD_IP):80"]\n`;
  const given = (further: string) => parseFile(one(env, further), { name: "n", cpus: 1, memoryBytes: 1, address: "192.0.2.1" });
  const [task] = given("").tasks;
  expect(task).toMatchObject({ network: { mode: "bridge" } });
  expect(task!.containers[0]).toMatchObject({ addressEnv: ["POD_IP"], env: { HOST_IP: "192.0.2.1" }, args: ["-b", "$(POD_IP):80"] });
  const escaped = parseFile(one(env.replace("$(POD_IP):80", () => "$$(POD_IP)")), { name: "n", cpus: 1, memoryBytes: 1 });
  expect(escaped.findings.map(({ pointer }) => pointer)).toEqual(["/spec/containers/0/env"]);
  const [ofHost] = given("  hostNetwork: true\n").tasks;
  expect(ofHost!.containers[0]).toMatchObject({ env: { POD_IP: "192.0.2.1", HOST_IP: "192.0.2.1" }, args: ["-b", "192.0.2.1:80"] });
  expect(ofHost!.containers[0]).not.toHaveProperty("addressEnv");
});

test("the policy of autoupdate is that of the container, or of all containers of the pod", () => {
  const annotated = (annotations: string) => one("").replace("annotations: { ", `annotations: { ${annotations}, `);
  const policy = (text: string) => first(text).annotations?.["io.containers.autoupdate"];
  const name = first(one("")).name;
  expect(policy(one(""))).toBeUndefined();
  expect(policy(annotated("io.containers.autoupdate: registry"))).toBe("registry");
  expect(policy(annotated(`io.containers.autoupdate: registry, io.containers.autoupdate/${name}: disabled`))).toBe("disabled");
});

test("P4 the command of a probe has the values that are written in the manifest, and nothing of a variable from elsewhere", () => {
  const text = `${SECRET}${one(
    '    env:\n    - { name: PORT, value: "80" }\n    - { name: T, valueFrom: { secretKeyRef: { name: keys, key: TOKEN } } }\n    livenessProbe: { exec: { command: [check, "$(PORT)", "x$(T)", "$$(PORT)", "$(NOBODY)"] } }\n',
  )}`;
  expect(first(text).livenessCheck!.command).toEqual(["check", "80", "x", "$(PORT)", "$(NOBODY)"]);
});

test("a group without a user belongs to the user of the image; what the API server refuses is refused", () => {
  const user = (rights: string) => first(one(`    securityContext: ${rights}\n`)).user;
  expect([user("{ runAsGroup: 7 }"), user("{ runAsUser: 5, runAsGroup: 7 }"), user("{}")]).toEqual([":7", "5:7", "0"]);
  expect(
    told(
      one(
        `    ports: [{ containerPort: 80, name: web, hostPort: 0 }, { containerPort: 81, name: web }, { containerPort: 82, name: ${"a".repeat(16)} }]\n    resources: { limits: { cpu: 500m }, requests: { cpu: 1 } }\n    volumeMounts: [{ name: v, mountPath: /v }, { name: v, mountPath: /v }]\n`,
        "  volumes: [{ name: v }]\n",
      ),
    ),
  ).toEqual([
    expect.stringMatching(/\/ports\/1\/name: the port web is there twice$/),
    expect.stringMatching(/\/ports\/2\/name: is no name of a port: at most 15 of a-z, 0-9 and -, with a letter$/),
    expect.stringMatching(/\/resources\/requests\/cpu: is more than the limit \(500m\)$/),
    expect.stringMatching(/\/volumeMounts\/1\/mountPath: something is mounted on \/v already$/),
  ]);
});
