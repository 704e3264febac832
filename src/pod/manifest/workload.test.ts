import { expect, test } from "vitest";
import { renderFinding } from "../../engine/spec/index.ts";
import { parseFile } from "../index.ts";

const HOST = { name: "n", cpus: 4, memoryBytes: 2 ** 33, images: "oci:/i" };
const read = (text: string) => parseFile(text, HOST);
const told = (text: string) => read(text).findings.map((one) => renderFinding(one, "f"));

const deployment = (spec: string, pod = "") =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web, namespace: team }\nspec:\n  selector: { matchLabels: { app: web } }\n  template:\n    metadata: { labels: { app: web } }\n    spec:\n      containers: [{ name: a, image: app:v1 }]\n${pod}${spec}`;
const job = (spec: string, policy = "OnFailure") =>
  `apiVersion: batch/v1\nkind: Job\nmetadata: { name: pi }\nspec:\n  template:\n    spec:\n      restartPolicy: ${policy}\n      containers: [{ name: a, image: app:v1 }]\n${spec}`;

/** Kubernetes, "Deployments": replicas are pods of one template; without a number there is one. */
test("P3 a deployment is as many pods as it has replicas, each started again whenever it ends, and each says whose it is", () => {
  const { tasks, findings } = read(deployment("  replicas: 3\n"));
  expect(findings).toEqual([]);
  expect(tasks.map(({ name, start }) => [name, start])).toEqual([
    ["web-0", "always"],
    ["web-1", "always"],
    ["web-2", "always"],
  ]);
  expect(JSON.parse(tasks[1]!.annotations!["runt.dev/pod"]!).metadata).toEqual({
    name: "web-1",
    namespace: "team",
    labels: { app: "web" },
    annotations: { "runt.dev/owner": "Deployment/web" },
  });
  expect(read(deployment("")).tasks).toHaveLength(1);
});

/** Kubernetes, "Jobs": completions, parallelism (1), backoffLimit (6), ttlSecondsAfterFinished. */
test("P3 a job is as many pods as it has completions, so many at a time, and each is tried again as often as it says", () => {
  const { tasks, findings } = read(job("  completions: 4\n  parallelism: 2\n  backoffLimit: 3\n  ttlSecondsAfterFinished: 100\n"));
  expect(findings).toEqual([]);
  expect(
    tasks.map(({ name, start, retention, containers: [a] }) => [name, start, retention, a!.dependsOn, a!.restart!.maximumCount]),
  ).toEqual([
    ["pi-0", "once", 100_000, [], 3],
    ["pi-1", "once", 100_000, [], 3],
    ["pi-2", "once", 100_000, [{ container: "pi-0/a", condition: "SUCCESS" }], 3],
    ["pi-3", "once", 100_000, [{ container: "pi-1/a", condition: "SUCCESS" }], 3],
  ]);
  expect(read(job("")).tasks.map(({ containers }) => containers[0]!.restart!.maximumCount)).toEqual([6]);
  expect(read(job("  backoffLimit: 0\n", "Never")).tasks[0]!.containers[0]).not.toHaveProperty("restart");
});

test("P16 what is wrong is told once, where it stands in the template; what is of a cluster is refused by name", () => {
  expect(told(deployment("  replicas: 3\n", "      nodeSelector: { a: b }\n"))).toEqual([
    expect.stringMatching(/^f:10:7: \/spec\/template\/spec\/nodeSelector: is not supported/),
  ]);
  expect(told(deployment("  strategy: { type: Blue }\n"))).toEqual([
    expect.stringMatching(/\/spec\/strategy\/type: expected "RollingUpdate"/),
  ]);
  expect(told(deployment("").replace("matchLabels: { app: web }", "matchLabels: { app: other }"))).toEqual([
    "f:5:3: /spec/selector: does not select the pods of the template",
  ]);
  expect(told(deployment("", "      restartPolicy: Never\n"))).toEqual([expect.stringContaining("is Always in a Deployment")]);
  expect(told(job("", "Always"))).toEqual(["f:7:7: /spec/template/spec/restartPolicy: is OnFailure or Never in a job"]);
  expect(told(job("  backoffLimitPerIndex: 5\n"))).toEqual([expect.stringContaining("/spec/backoffLimitPerIndex: is not supported")]);
  expect(told(job("  compleitons: 5\n"))).toEqual([
    expect.stringContaining('the field "compleitons" is not supported: is completions meant?'),
  ]);
});

/** Kubernetes, ReplicaSet, ReplicationController, DaemonSet; DeploymentStrategy: 25 % more pods during a rolling update by default. */
test("P3 what else makes pods of a template; a deployment and a stateful set say how their pods are replaced", () => {
  const names = (text: string) => read(text).tasks.map(({ name }) => name);
  const as = (kind: string, spec = "") => deployment(spec).replace("kind: Deployment", `kind: ${kind}`);
  expect(names(as("ReplicaSet", "  replicas: 2\n"))).toEqual(["web-0", "web-1"]);
  expect(names(as("DaemonSet"))).toEqual(["web-0"]);
  const controller = as("ReplicationController", "  replicas: 2\n").replace("apps/v1", "v1");
  expect(names(controller.replace("{ matchLabels: { app: web } }", "{ app: web }"))).toEqual(["web-0", "web-1"]);
  expect(told(controller.replace("{ matchLabels: { app: web } }", "{ app: other }"))).toEqual([
    "f:5:3: /spec/selector: does not select the pods of the template",
  ]);
  const update = (spec: string, replicas = 1) =>
    read(deployment(`${spec}  replicas: ${replicas}\n`)).tasks.map((one) => [one.update, one.replica]);
  const [[first, place] = []] = update("  minReadySeconds: 3\n", 8);
  expect([first, place]).toMatchObject([
    { order: "start-first", parallelism: 2, monitor: 0, minReady: 3000, readyWithin: 600_000, onFailure: "pause" },
    { of: "web", index: 0 },
  ]);
  const none = "  strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 30% } }\n";
  expect(update(none, 5)[4]).toMatchObject([{ order: "stop-first", parallelism: 1 }, { index: 4 }]);
  expect(update("  strategy: { type: Recreate }\n", 2)[0]).toMatchObject([{ order: "stop-first", parallelism: 0 }, {}]);
  const ordered = "  updateStrategy: { rollingUpdate: { partition: 1 } }\n  replicas: 2\n  serviceName: web\n";
  expect(read(as("StatefulSet", ordered)).tasks[1]!.update).toMatchObject({
    order: "stop-first",
    parallelism: 1,
    reverse: true,
    partition: 1,
  });
});

test("what a workload asks for its updates and does not get is told; a deadline of the largest number is none", () => {
  const warned = (kind: string, spec: string) => {
    const { findings, warnings = [] } = read(deployment(spec).replace("kind: Deployment", `kind: ${kind}`));
    expect(findings).toEqual([]);
    return warnings.map(({ pointer, message }) => `${pointer}: ${message}`);
  };
  for (const kind of ["DaemonSet", "StatefulSet"])
    expect(warned(kind, "  updateStrategy: { type: OnDelete }\n")).toEqual([
      "/spec/updateStrategy/type: has no effect: an apply replaces the pods without a delete",
    ]);
  for (const kind of ["DaemonSet", "ReplicaSet"])
    expect(warned(kind, "  minReadySeconds: 5\n")).toEqual([
      "/spec/minReadySeconds: has no effect: what takes the place of a pod is waited for, and no longer",
    ]);
  expect(warned("StatefulSet", "  minReadySeconds: 5\n")).toEqual([]);
  const none = "  progressDeadlineSeconds: 2147483647\n";
  expect(warned("Deployment", none)).toEqual(["/spec/progressDeadlineSeconds: a rollout waits for a day at most"]);
  expect(read(deployment(none)).tasks[0]!.update).toMatchObject({ readyWithin: 86_400_000 });
  for (const kind of ["Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"])
    expect(told(deployment("").replace("kind: Deployment", `kind: ${kind}`).replace("{ matchLabels: { app: web } }", "{}"))).toEqual([
      "f:5:3: /spec/selector: is empty: it has to select the pods of the template",
    ]);
});

test("P16 what is of a cluster is left out when that is asked for, and each is told of; what keeps others away never is", () => {
  const ignoring = (text: string) => parseFile(text, { ...HOST, ignoresClusterFields: true });
  const text = `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: { name: r }\n---\n${deployment("", "      schedulerName: s\n      affinity: { a: b }\n")}`;
  expect(told(text)).toEqual([
    expect.stringMatching(
      /^f:2:1: \/kind: documents of kind Role are not supported: only Pod, .*; --ignore-cluster-fields leaves them out$/,
    ),
    expect.stringMatching(
      /\/spec\/template\/spec\/schedulerName: is not supported: there is one host, and nothing to choose from; --ignore-cluster-fields leaves it out$/,
    ),
    expect.stringContaining('/spec/template/spec/affinity/a: the field "a" is not supported'),
  ]);
  const { tasks, findings, warnings } = ignoring(text);
  expect([tasks.length, findings]).toEqual([1, []]);
  expect(warnings!.map((one) => renderFinding(one, "f"))).toEqual([
    "f:2:1: /kind: the document of kind Role is left out: there is no cluster",
    "f:14:7: /spec/template/spec/schedulerName: is left out: there is one host, and nothing to choose from",
    "f:15:7: /spec/template/spec/affinity: is left out: there is one host, and nothing to choose from",
  ]);
  expect(JSON.parse(tasks[0]!.annotations!["runt.dev/pod"]!).spec).not.toHaveProperty("affinity");
  const policy = ignoring(`apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: { name: p }\n---\n${deployment("")}`);
  expect(policy.findings.map(({ message }) => message)).toEqual([
    "documents of kind NetworkPolicy are not supported: nothing here would keep connections away",
  ]);
});

/** Kubernetes, "Jobs": "Parallel execution for Jobs", "Completion mode", activeDeadlineSeconds. */
test("P3 a job with indices tells each pod its own; without completions all of its pods run at once; and it has a time", () => {
  const { tasks, findings } = read(job("  completions: 2\n  completionMode: Indexed\n  activeDeadlineSeconds: 60\n"));
  expect(findings).toEqual([]);
  expect(tasks.map(({ deadline, containers: [a] }) => [deadline, a!.env])).toEqual([
    [60_000, { JOB_COMPLETION_INDEX: "0" }],
    [60_000, { JOB_COMPLETION_INDEX: "1" }],
  ]);
  expect(JSON.parse(tasks[1]!.annotations!["runt.dev/pod"]!).metadata.annotations).toMatchObject({
    "batch.kubernetes.io/job-completion-index": "1",
  });
  const queue = read(job("  parallelism: 2\n")).tasks;
  expect(queue.map(({ name, containers: [a] }) => [name, a!.dependsOn])).toEqual([
    ["pi-0", []],
    ["pi-1", []],
  ]);
});

test("P3 a selector by expressions, and a template with a name that means nothing", () => {
  const by = (expression: string) =>
    told(
      deployment("")
        .replace("{ matchLabels: { app: web } }", `{ matchExpressions: [${expression}] }`)
        .replace("metadata: { labels:", "metadata: { name: x, labels:"),
    );
  const right = ["{ key: app, operator: In, values: [web] }", "{ key: app, operator: Exists }", "{ key: no, operator: DoesNotExist }"];
  for (const one of [...right, "{ key: app, operator: NotIn, values: [a] }"]) expect(by(one)).toEqual([]);
  for (const one of ["{ key: app, operator: In, values: [a] }", "{ key: app, operator: DoesNotExist }", "{ key: no, operator: Exists }"])
    expect(by(one)).toEqual(["f:5:3: /spec/selector: does not select the pods of the template"]);
});

test("P16 a volume of elsewhere is refused, or by request an empty directory of the group that is told of: one for all that name the same", () => {
  const pod = (name: string, source: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: { name: ${name} }\nspec:\n  containers: [{ name: a, image: app:v1, volumeMounts: [{ name: v, mountPath: /v }] }]\n  volumes: [{ name: v, ${source} }]\n`;
  const text = [
    pod("one", "nfs: { server: s, path: /p }"),
    pod("two", "nfs: { path: /p, server: s, readOnly: true }"),
    pod("other", "nfs: { server: s, path: /q }"),
  ].join("---\n");
  expect(told(text)[0]).toBe(
    "f:6:24: /spec/volumes/0/nfs: is not supported: what is in it is not on this host; --ignore-cluster-fields takes an empty directory of the group in its place",
  );
  const { tasks, findings, warnings } = parseFile(text, { ...HOST, ignoresClusterFields: true });
  expect(findings).toEqual([]);
  const kept = tasks.map(({ volumes: [one] }) => one!.kept);
  expect(kept[0]).toMatch(/^nfs-[0-9a-f]{8}$/);
  expect([kept[1] === kept[0], kept[2] === kept[0]]).toEqual([true, false]);
  expect(tasks.map(({ containers: [a] }) => a!.mounts[0])).toMatchObject([{ readOnly: false, noCopy: true }, { readOnly: true }, {}]);
  expect(warnings!.map((one) => renderFinding(one, "f"))[0]).toBe(
    `f:6:24: /spec/volumes/0/nfs: is elsewhere: in its place is the directory ${kept[0]} of the group, which begins empty and is kept`,
  );
});

test("P16 what else is of a cluster: each is refused by name, and told of when it is left out", () => {
  const documents = [
    "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: { name: i }",
    "apiVersion: v1\nkind: Service\nmetadata: { name: outside }\nspec: { ports: [{ port: 80 }] }",
    "apiVersion: v1\nkind: Service\nmetadata: { name: web, finalizers: [a] }\nspec: { ports: [{ port: 80 }], loadBalancerIP: 10.0.0.9, selector: { a: b } }",
    "apiVersion: v1\nkind: ServiceAccount\nmetadata: { name: a }\nautomountServiceAccountToken: true\nimagePullSecrets: [{ name: a }]",
    "apiVersion: v1\nkind: PersistentVolume\nmetadata: { name: v }\nspec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOnce], nfs: { server: s, path: /p } }",
    "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: { name: c }\nspec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } }, volumeName: v }",
    "apiVersion: v1\nkind: PodList\nitems: [{ metadata: { name: w, labels: { a: b } }, spec: { automountServiceAccountToken: true, containers: [{ name: a, image: x:1 }], volumes: [{ name: t, projected: { sources: [{ serviceAccountToken: { path: t } }] } }] } }]",
  ];
  expect(told(documents[0]!)).toEqual([
    "f:2:1: /kind: documents of kind Ingress are not supported: nothing here routes requests by their host and path; a Service of type LoadBalancer or NodePort has ports of this host; --ignore-cluster-fields leaves them out",
  ]);
  for (const text of documents)
    expect(told(text).join("\n")).toMatch([1, 4, 5].includes(documents.indexOf(text)) ? /^$/ : /--ignore-cluster-fields/);
  // Documents that no pod uses cause a warning.
  const unused = (text: string) =>
    parseFile(text, HOST)
      .warnings!.map((one) => renderFinding(one, "f"))
      .join("\n");
  expect(unused(documents[1]!)).toMatch(/selects no pod of this file/);
  expect(unused(documents[4]!)).toMatch(/\/spec\/nfs: is not used: no claim of the file has the volume/);
  expect(unused(documents[5]!)).toMatch(/\/spec\/volumeName: the file has no free volume v/);
  const { tasks, findings, warnings } = parseFile(documents.join("\n---\n"), { ...HOST, ignoresClusterFields: true });
  expect([tasks.map(({ name }) => name), findings]).toEqual([["w"], []]);
  const places = warnings!.map(({ document, pointer }) => `${document} ${pointer}`);
  expect(places).toEqual(
    expect.arrayContaining([
      ...[
        "0 /kind",
        "1 /spec/selector",
        "2 /metadata/finalizers",
        "2 /spec/loadBalancerIP",
        "3 /automountServiceAccountToken",
        "3 /imagePullSecrets",
      ],
      ...["4 /spec/nfs", "5 /spec/volumeName", "6 /items/0/spec/automountServiceAccountToken"],
      "6 /items/0/spec/volumes/0/projected/sources/0/serviceAccountToken",
    ]),
  );
});

test("P16 a name that Kubernetes does not take is refused with the flag, too; a replication controller selects something", () => {
  const pod = (fields: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { containers: [{ name: a, image: x:1 }], ${fields} }`;
  const findings = (text: string) => parseFile(text, { ...HOST, ignoresClusterFields: true }).findings.map(({ message }) => message);
  expect(findings(pod("serviceAccountName: $NAME"))).toEqual(["is no name that Kubernetes takes"]);
  expect(findings(pod("serviceAccountName: robot, volumes: [{ name: v, rbd: { image: i, monitors: [m], imageformat: '2' } }]"))).toEqual([
    'the field "imageformat" is not supported',
  ]);
  const held = "nodeSelector: { kubernetes.io/os: linux }, schedulerName: default-scheduler, affinity: {}, priority: 0";
  const { findings: found, warnings = [] } = parseFile(pod(held), { ...HOST, ignoresClusterFields: true });
  expect([found, warnings]).toEqual([[], []]);
  const controller =
    "apiVersion: v1\nkind: ReplicationController\nmetadata: { name: a }\nspec: { template: { spec: { containers: [{ name: a, image: x:1 }] } } }";
  expect(findings(controller)).toEqual(["needs a selector, or labels of the template"]);
});

test("devices of pods are those of CDI, different ones in each container of the file", () => {
  const text = `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: a }\nspec:\n  replicas: 2\n  selector: { matchLabels: { a: b } }\n  template:\n    metadata: { labels: { a: b } }\n    spec: { containers: [{ name: a, image: x:1, resources: { requests: { nvidia.com/gpu: 2 }, limits: { nvidia.com/gpu: "2" } } }] }\n`;
  expect(parseFile(text, HOST).tasks.map(({ containers: [a] }) => a!.cdi)).toEqual([
    ["nvidia.com/gpu=0", "nvidia.com/gpu=1"],
    ["nvidia.com/gpu=2", "nvidia.com/gpu=3"],
  ]);
});

test("mounts of a directory of the host are passed on as its mountPropagation says", () => {
  const text = (fields: string) =>
    `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec:\n  containers: [{ name: a, image: x:1, ${fields} }]\n  volumes: [{ name: v, hostPath: { path: /v } }, { name: e }]\n`;
  const mounts = (how: string, further = "") =>
    parseFile(
      text(
        `volumeMounts: [{ name: v, mountPath: /v, mountPropagation: ${how} }, { name: e, mountPath: /e, mountPropagation: ${how} }]${further}`,
      ),
      HOST,
    ).tasks[0]!.containers[0]!.mounts.map(({ propagation }) => propagation);
  expect(mounts("HostToContainer")).toEqual(["rslave", undefined]);
  expect(mounts("Bidirectional", ", securityContext: { privileged: true }")).toEqual(["rshared", undefined]);
  expect(mounts("None")).toEqual([undefined, undefined]);
});

test("an empty word is none, as for Kubernetes", () => {
  const text = `apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: { restartPolicy: "", dnsPolicy: "", hostname: "", containers: [{ name: a, image: x:1, imagePullPolicy: "", workingDir: "", terminationMessagePath: "", ports: [{ containerPort: 80, protocol: "" }] }] }`;
  const { tasks, findings } = parseFile(text, HOST);
  expect(findings).toEqual([]);
  expect(tasks[0]).toMatchObject({
    start: "always",
    containers: [{ pullPolicy: "prefer-cached", hostname: "a" }],
  });
});

test("P3 pods have the labels that a controller adds, and what names them finds them", () => {
  const labelsOf = (text: string) => read(text).tasks.map((one) => JSON.parse(one.annotations!["runt.dev/pod"]!).metadata.labels);
  const set = deployment("  replicas: 2\n  serviceName: web\n", "      terminationGracePeriodSeconds: 1\n").replace(
    "Deployment",
    "StatefulSet",
  );
  const added = (index: number) => ({
    "statefulset.kubernetes.io/pod-name": `web-${index}`,
    "apps.kubernetes.io/pod-index": String(index),
  });
  expect(labelsOf(set)).toEqual([0, 1].map((index) => ({ app: "web", ...added(index) })));
  expect(labelsOf(job(""))).toEqual([{ "batch.kubernetes.io/job-name": "pi", "job-name": "pi" }]);
  const service = "---\napiVersion: v1\nkind: Service\nmetadata: { name: s }\nspec: { clusterIP: None, selector: { job-name: pi } }\n";
  const served = read(job("") + service);
  expect([served.findings, served.warnings ?? []]).toEqual([[], []]);
});

test("P3 a job that is suspended has no pods, and that is told", () => {
  for (const field of ["suspend: true", "parallelism: 0"]) {
    const { tasks, findings, warnings = [] } = read(job(`  ${field}\n`));
    expect([tasks, findings]).toEqual([[], []]);
    expect(warnings.map(({ message }) => message)).toContain("the job is suspended: no pods of it are made");
  }
  expect(told(job("  completionMode: Indexed\n"))).toEqual([expect.stringContaining("/spec/completions: is needed with the mode Indexed")]);
  expect(told(deployment("  strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0% } }\n"))).toEqual([
    expect.stringContaining("/spec/strategy/rollingUpdate: maxSurge and maxUnavailable are both 0"),
  ]);
  expect(told(deployment("  strategy: { type: Recreate, rollingUpdate: { maxSurge: 1 } }\n"))).toEqual([
    expect.stringContaining("/spec/strategy/rollingUpdate: is for the type RollingUpdate"),
  ]);
});
