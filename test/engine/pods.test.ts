/** Pods of Kubernetes: from the document to what runs, and back to a pod with its status. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CGROUP_VERSION, cgroupFile } from "./kernel-files.ts";
import { isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

interface Terminated {
  readonly message?: string;
  readonly exitCode: number;
  readonly reason: string;
  readonly finishedAt?: string;
}

interface Status {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly state: {
    readonly terminated?: Terminated;
    readonly running?: { readonly startedAt: string };
    readonly waiting?: { readonly reason: string };
  };
  readonly lastState?: { readonly terminated?: Terminated };
}

interface Pod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: unknown;
  readonly status: {
    readonly phase: string;
    readonly message?: string;
    readonly startTime?: string;
    readonly qosClass: string;
    readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
    readonly initContainerStatuses?: readonly Status[];
    readonly containerStatuses: readonly Status[];
  };
}

interface PodSpec {
  readonly containers: readonly { readonly name: string }[];
  readonly initContainers?: readonly { readonly name: string }[];
  readonly [field: string]: unknown;
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

describe.skipIf(!isRoot)("pods (needs root)", () => {
  const scene = useEngine();
  const sh = (name: string, script: string, fields: object = {}) => ({ name, command: ["/bin/sh", "-c", script], ...fields });
  const podText = (name: string, spec: PodSpec, labels = {}) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        labels,
        annotations: Object.fromEntries(
          [...(spec.initContainers ?? []), ...spec.containers].map((one) => [`runt.dev/rootfs.${one.name}`, scene.rootfs()]),
        ),
      },
      spec: { terminationGracePeriodSeconds: 5, ...spec },
    });
  const apply = async (...texts: string[]) => scene.ctl("apply", "-f", scene.file("pod.yaml", texts.join("\n---\n")));
  const applied = async (...texts: string[]) => expect(await apply(...texts)).toMatchObject({ status: 0, stderr: "" });
  const get = async (name: string): Promise<Pod> => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
  const reaches = (name: string, phase: string) => until(async () => (await get(name)).status.phase === phase);

  test("P28 P30 P32 a pod whose containers have all ended with 0 is Succeeded, with init containers, files, environment and times", async () => {
    await scene.daemon();
    const config = JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "conf" },
      data: { greeting: "hello\n", word: "hello" },
    });
    const volumeMounts = [
      { name: "scratch", mountPath: "/scratch" },
      { name: "conf", mountPath: "/conf" },
    ];
    await applied(
      config,
      podText("job", {
        restartPolicy: "Never",
        initContainers: [sh("prepare", "cat /conf/greeting > /scratch/file", { volumeMounts })],
        containers: [
          sh(
            "read",
            'read -r line < /scratch/file; test "$line" = "$WANTED" && test "$(hostname)" = job && ! touch /conf/new 2>/dev/null',
            {
              volumeMounts,
              env: [{ name: "WANTED", valueFrom: { configMapKeyRef: { name: "conf", key: "word" } } }],
            },
          ),
          sh("other", "echo -n done > /dev/termination-log && ! rm /dev/termination-log 2>/dev/null"),
        ],
        volumes: [
          { name: "scratch", emptyDir: {} },
          { name: "conf", configMap: { name: "conf" } },
        ],
      }),
    );
    await until(async () => ["Succeeded", "Failed"].includes((await get("job")).status.phase));
    const { status } = await get("job");
    expect(status.containerStatuses.map(({ state }) => state.terminated?.message)).toEqual([undefined, "done"]);
    expect(status).toMatchObject({ phase: "Succeeded", qosClass: "BestEffort", startTime: expect.stringMatching(RFC3339) });
    expect(status.initContainerStatuses?.[0]?.state.terminated).toMatchObject({ exitCode: 0, reason: "Completed" });
    expect(
      status.containerStatuses.map(({ name, state, restartCount, ready }) => [name, state.terminated?.exitCode, restartCount, ready]),
    ).toEqual([
      ["read", 0, 0, false],
      ["other", 0, 0, false],
    ]);
    expect(status.containerStatuses[0]!.state.terminated!.finishedAt).toMatch(RFC3339);
    expect(status.conditions.map(({ type, status: holds, reason }) => [type, holds, reason])).toEqual([
      ["PodScheduled", "True", undefined],
      ["Initialized", "True", undefined],
      ["ContainersReady", "False", "PodCompleted"],
      ["Ready", "False", "PodCompleted"],
    ]);
  });

  test("P28 a pod with one failed container of two is Failed, and each container shows its own end; after a failed init container the others do not start", async () => {
    await scene.daemon();
    await applied(
      podText("mixed", {
        restartPolicy: "Never",
        containers: [
          sh("bad", "echo no room; exit 3", { terminationMessagePolicy: "FallbackToLogsOnError" }),
          sh("good", "sleep 0.3; printf '\\377\\0A' > /tmp/end", { terminationMessagePath: "/tmp/end" }),
        ],
      }),
      podText("early", { restartPolicy: "Never", initContainers: [sh("first", "exit 4")], containers: [sh("main", "true")] }),
      podText("memory", {
        restartPolicy: "Never",
        containers: [sh("hog", "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", { resources: { limits: { memory: "16Mi" } } })],
      }),
    );
    for (const name of ["mixed", "early", "memory"]) await reaches(name, "Failed");
    const ends = async (name: string) =>
      (await get(name)).status.containerStatuses.map(({ state: { terminated: end } }) => [end?.exitCode, end?.reason, end?.message]);
    // The one that goes on has its own time: a pod is no task with an essential container.
    expect(await ends("mixed")).toEqual([
      [3, "Error", "no room\n"],
      [0, "Completed", "\ufffd\0A"],
    ]);
    const described = async (...socket: string[]) => (await scene.ctl(...socket, "describe", "mixed")).stdout;
    expect(await described()).toMatch(/^ +Message: +no room$/m);
    expect(await described("-s", `${scene.directory}/run/read.sock`)).not.toContain("Message:");
    const early = (await get("early")).status;
    expect(early.initContainerStatuses![0]!.state.terminated).toMatchObject({ exitCode: 4, reason: "Error" });
    expect(early.containerStatuses[0]!.state.waiting?.reason).toBe("PodInitializing");
    expect(await ends("memory")).toEqual([[137, "OOMKilled", undefined]]);
  });

  test("P26 P27 the status shows the applied text, also with the next daemon; a label changes no running container; a container that ends is started again", async () => {
    const first = await scene.daemon();
    const spec = {
      initContainers: [sh("beside", `echo -n up > /dev/termination-log; ${SLEEP}`, { restartPolicy: "Always" })],
      containers: [
        sh("main", SLEEP, {
          resources: { requests: { memory: "16Mi" } },
          readinessProbe: { exec: { command: ["/bin/true"] }, periodSeconds: 1 },
        }),
      ],
    };
    await applied(podText("web", spec, { app: "shop" }));
    await until(async () => (await get("web")).status.conditions.every(({ status }) => status === "True"));
    const before = await get("web");
    expect(before).toMatchObject(JSON.parse(podText("web", spec, { app: "shop" })));
    expect(before.metadata).toMatchObject({ namespace: "default", uid: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(before.status).toMatchObject({ phase: "Running", qosClass: "Burstable" });
    expect((await scene.ctl("get", "web", "-o", "yaml")).stdout).toMatch(/^apiVersion: v1\nkind: Pod\n/);
    expect((await scene.ctl("describe", "web")).stdout).toMatch(/^Pod: +Running, Burstable\nConditions: +.*PodScheduled=True, /m);
    await first.kill();
    await scene.daemon();
    expect(await get("web")).toEqual(before);

    expect((await apply(podText("web", spec, { app: "other" }))).stdout).toBe("task web updated\n");
    expect((await get("web")).status).toEqual(before.status);
    expect(scene.list()).toHaveLength(3);

    const sidecar = scene.list().find(({ id }) => id.includes("beside"))!;
    process.kill(sidecar.pid, "SIGKILL");
    const sidecarNow = async () => (await get("web")).status.initContainerStatuses![0]!;
    await until(async () => (await sidecarNow()).restartCount === 1);
    expect(await sidecarNow()).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { exitCode: 137, reason: "Error", message: "up" } },
    });
    expect((await get("web")).status.phase).toBe("Running");
    expect((await scene.ctl("delete", "web")).status).toBe(0);
  });

  test("a pod in which only resources differ gets them without a restart: of its containers, and of the whole pod", async () => {
    await scene.daemon();
    const text = (memory: string, resources?: object) =>
      podText("web", {
        ...(resources === undefined ? {} : { resources }),
        containers: [sh("a", SLEEP, { resources: { limits: { cpu: "100m", memory } } })],
      });
    await applied(text("32Mi"));
    await until(async () => (await get("web")).status.phase === "Running");
    const { pid } = scene.list().find(({ id }) => id.includes(".a-"))!;
    expect((await apply(text("48Mi"))).stdout).toBe("task web updated\n");
    expect((await apply(text("24Mi", { limits: { cpu: "200m", memory: "64Mi" } }))).stdout).toBe("task web updated\n");
    const memory = (level: number) => cgroupFile(pid, "memory", CGROUP_VERSION === 1 ? "memory.limit_in_bytes" : "memory.max", level);
    await until(() => memory(0) === String(24 * 1024 ** 2) && memory(1) === String(64 * 1024 ** 2));
    expect(scene.list().find(({ id }) => id.includes(".a-"))!.pid).toBe(pid);
    expect((await get("web")).status.containerStatuses[0]!.restartCount).toBe(0);
    expect((await scene.ctl("delete", "web")).status).toBe(0);
  });

  test("P16 P25 a pod that cannot start says why; an unknown pod gets a different error", async () => {
    await scene.daemon();
    await applied(
      podText("gone", { restartPolicy: "Never", containers: [sh("a", "true")] }).replaceAll(scene.rootfs(), `${scene.directory}/none`),
    );
    await reaches("gone", "Failed");
    const { status } = await get("gone");
    expect(status.message).toContain("is not a directory");
    expect(status.containerStatuses[0]!.state.terminated).toMatchObject({ exitCode: 128, reason: "StartError" });
    expect(await scene.ctl("get", "nobody", "-o", "json")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("there is no task nobody"),
    });
  });

  test("fields that cannot be honoured are refused with line and column by validate, plan and apply, and nothing is begun", async () => {
    await scene.daemon();
    const text =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\nspec:\n  nodeSelector: { a: b }\n  containers:\n  - name: a\n    image: nginx\n    livenesProbe: {}\n";
    const file = scene.file("bad.yaml", text);
    const refused = await scene.ctl("validate", "-f", file);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/bad\.yaml:6:3: \/spec\/nodeSelector: .*\n.*bad\.yaml:10:5: \/spec\/containers\/0\/livenesProbe: /);
    for (const verb of ["plan", "apply"]) expect(await scene.ctl(verb, "-f", file)).toMatchObject({ status: 1, stderr: refused.stderr });
    expect(scene.list()).toEqual([]);
  });

  test("the client checks objects with a generated name, and warns about those that another file may have, without which nothing is begun", async () => {
    await scene.daemon();
    const job = (env: string) =>
      `apiVersion: batch/v1\nkind: Job\nmetadata: { generateName: once- }\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n      - name: a\n        image: r.example/a\n        command: [x]\n        ${env}\n`;
    const plain = await scene.ctl("validate", "-f", scene.file("job.yaml", job("env: []")));
    expect(plain).toMatchObject({ status: 0, stderr: "" });
    expect(plain.stdout).toMatch(/job\.yaml: once-[a-z0-9]{5}-0: no errors/);
    const file = scene.file("needs.yaml", job("envFrom: [{ secretRef: { name: keys } }]"));
    const told = await scene.ctl("validate", "-f", file);
    expect(told).toMatchObject({ status: 0, stdout: expect.stringContaining("what is there: no errors") });
    expect(told.stderr).toMatch(
      /needs\.yaml:12:\d+: .*: warning: the file has no Secret keys in namespace default: runtctl apply refuses it, unless another -f has it/,
    );
    expect(await scene.ctl("apply", "-f", file)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("the file has no Secret keys"),
    });
    expect(scene.list()).toEqual([]);
  });

  test("secrets are not shown to readers, and their files have the mode that they ask for", async () => {
    await scene.daemon();
    const secret = JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "keys" }, stringData: { token: "s3cr3t" } });
    await applied(
      secret,
      podText("holder", {
        containers: [
          sh("main", `stat -c %a /keys/token > /out/mode; ${SLEEP}`, {
            env: [{ name: "TOKEN", valueFrom: { secretKeyRef: { name: "keys", key: "token" } } }],
            volumeMounts: [
              { name: "keys", mountPath: "/keys" },
              { name: "out", mountPath: "/out" },
            ],
          }),
        ],
        volumes: [
          { name: "keys", secret: { secretName: "keys", defaultMode: 0o400 } },
          { name: "out", hostPath: { path: scene.directory, type: "Directory" } },
        ],
      }),
    );
    await reaches("holder", "Running");
    await until(() => {
      try {
        return readFileSync(`${scene.directory}/mode`, "utf8") === "400\n";
      } catch {
        return false;
      }
    });
    const read = await scene.ctl("-s", `${scene.directory}/run/read.sock`, "get", "holder", "-o", "json");
    const detail = await scene.ctl("-s", `${scene.directory}/run/read.sock`, "describe", "holder");
    expect([read.status, detail.status]).toEqual([0, 0]);
    expect(read.stdout + detail.stdout).not.toMatch(/s3cr3t|czNjcjN0/);
    expect((await scene.ctl("delete", "holder")).status).toBe(0);
  });
});
