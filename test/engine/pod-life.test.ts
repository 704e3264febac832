/** The life of pods, row by row: who makes one, what survives a crash, what is shown, and what is left. */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { RUNTCTL } from "./client-programs.ts";
import { namesBelow } from "./names-below.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { eventsOf, http, isRoot, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const podText = (rootfs: string, name: string, script: string, spec: object = {}, metadata: object = {}) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, annotations: { "runt.dev/rootfs.main": rootfs }, ...metadata },
    spec: {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 5,
      containers: [{ name: "main", command: ["/bin/sh", "-c", script] }],
      ...spec,
    },
  });

describe.skipIf(!isRoot)("the life of pods (needs root)", () => {
  const scene = useEngine();
  const pod = (name: string, script: string, spec: object = {}, metadata: object = {}) =>
    podText(scene.rootfs(), name, script, spec, metadata);
  let count = 0;
  const apply = (...texts: string[]) => scene.ctl("apply", "-f", scene.file(`pod-${++count}.yaml`, texts.join("\n---\n")));
  const applied = async (...texts: string[]) => expect(await apply(...texts)).toMatchObject({ status: 0, stderr: "" });
  const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
  const reaches = (name: string, phase: string) => until(async () => (await get(name)).status.phase === phase);

  test("P5 logs prints the last lines, or those of one container, and follows them to the end", async () => {
    await scene.daemon();
    await applied(pod("talker", "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i; done; sleep 1; echo last"));
    const followed = await scene.ctl("logs", "talker", "-c", "main", "-f");
    expect(followed.stdout.split("\n").filter(Boolean)).toHaveLength(101);
    expect((await scene.ctl("logs", "talker", "-n", "5")).stdout).toBe("line 97\nline 98\nline 99\nline 100\nlast\n");
    expect((await scene.ctl("logs", "talker", "--since", "0s")).stdout).toBe("");
    expect((await scene.ctl("logs", "talker", "-c", "nobody")).status).not.toBe(0);
  });

  test("P28 a pod that runs too long is stopped, also by the next daemon, and has failed with the reason DeadlineExceeded", async () => {
    const first = await scene.daemon();
    const calm = `trap 'exit 0' TERM; sleep 1000 & wait`;
    await applied(pod("late", calm, { activeDeadlineSeconds: 2 }), pod("patient", calm, { activeDeadlineSeconds: 3600 }));
    await first.kill();
    await scene.daemon();
    await reaches("late", "Failed");
    const { status } = await get("late");
    expect(status).toMatchObject({ reason: "DeadlineExceeded", message: "the task was active for longer than 2 s" });
    // On a slow host the deadline may pass before both are started.
    await reaches("patient", "Running");
    expect((await scene.ctl("delete", "patient")).status).toBe(0);
  });

  test("P4 a pod can have its own stop signal, a seccomp profile of the host's directory, and a restart rule for an exit code", async () => {
    vi.stubEnv("RUNT_SECCOMP_PROFILES", scene.directory);
    scene.file(
      "filter.json",
      '{"defaultAction":"SCMP_ACT_ALLOW","syscalls":[{"names":["mkdir","mkdirat"],"action":"SCMP_ACT_ERRNO","errnoRet":28}]}',
    );
    await scene.daemon();
    const shared = sharedIn(scene, "signals");
    const volumes = [{ name: "shared", hostPath: { path: shared.directory } }];
    const volumeMounts = [{ name: "shared", mountPath: "/shared" }];
    const [command, fields] = ["/bin/sh", { volumeMounts }];
    const script =
      "exec 2>> /shared/lines; trap 'echo usr1 >> /shared/lines; exit 0' USR1; mkdir /tmp/x; echo ready >> /shared/lines; sleep 1000 & wait";
    const again = "test -e /shared/once && exit 0; touch /shared/once; exit 42";
    await applied(
      pod("signalled", "", {
        os: { name: "linux" },
        volumes,
        securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "filter.json" } },
        containers: [{ name: "main", command: [command, "-c", script], lifecycle: { stopSignal: "SIGUSR1" }, ...fields }],
      }),
      pod("again", "", {
        volumes,
        containers: [
          {
            name: "main",
            command: [command, "-c", again],
            restartPolicy: "Never",
            restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
            ...fields,
          },
        ],
      }),
    );
    await until(() => shared.lines().includes("ready"));
    expect(shared.lines()[0]).toMatch(/No space left on device/);
    expect((await scene.ctl("delete", "signalled")).status).toBe(0);
    await until(() => shared.lines().includes("usr1"));
    await reaches("again", "Succeeded");
    expect((await get("again")).status.containerStatuses[0].restartCount).toBe(1);
  });

  test("P2 P12 P17 each text has its number; a refused one leaves nothing; if the daemon is killed before the start, the next one has the pod and starts it once", async () => {
    const shared = sharedIn(scene, "once");
    const mounts = { volumes: [{ name: "s", hostPath: { path: shared.directory } }] };
    const spec = (word: string) => ({
      ...mounts,
      containers: [
        { name: "main", command: ["/bin/sh", "-c", `echo ${word} >> /s/lines; ${SLEEP}`], volumeMounts: [{ name: "s", mountPath: "/s" }] },
      ],
    });
    const first = await scene.daemon({ fault: "after-commit start 1" }).catch(() => undefined);
    void first;
    await apply(pod("web", "", spec("one"), { namespace: "team", uid: "u-1" }));
    await scene.daemon();
    await reaches("web", "Running");
    expect(shared.lines()).toEqual(["one"]);
    expect((await get("web")).metadata).toMatchObject({ name: "web", namespace: "team", uid: "u-1" });
    const id = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/web")).text).id;
    const before = await id();
    const wrong = await apply(pod("web", "", { ...spec("two"), progressDeadlineSeconds: 1 }));
    expect(wrong.status).toBe(1);
    expect(await id()).toBe(before);
    await applied(pod("web", "", spec("two"), { namespace: "team", uid: "u-1" }));
    await until(() => shared.lines().length === 2);
    const number = (text: string) => Number(text.split(".").at(-1));
    expect(number(await id())).toBe(number(before) + 1);
    expect((await scene.ctl("delete", "web")).status).toBe(0);
  });

  test("P13 if two requests create the same pod at once, one creates it, and the other finds it", async () => {
    await scene.daemon();
    const text = pod("same", SLEEP);
    const answers = await Promise.all(Array.from({ length: 4 }, () => apply(text)));
    expect(answers.map(({ stdout }) => stdout).sort()).toEqual([
      "task same created\n",
      "task same unchanged\n",
      "task same unchanged\n",
      "task same unchanged\n",
    ]);
    expect((await scene.ctl("delete", "same")).status).toBe(0);
  });

  test("P18 P20 P22 a stop takes as long as the pod asks for, and has a reason; the status shows it during and after the stop; without a daemon the phase is Unknown", async () => {
    const daemon = await scene.daemon();
    await applied(pod("deaf", "while :; do sleep 0.1; done", { terminationGracePeriodSeconds: 3 }));
    await reaches("deaf", "Running");
    const watch = spawn(RUNTCTL[0], [...RUNTCTL.slice(1), "-s", scene.socket, "get", "deaf", "-w"]);
    onTestFinished(() => void watch.kill());
    let rows = "";
    watch.stdout.on("data", (chunk) => {
      rows += chunk;
    });
    const begun = performance.now();
    const stopping = scene.ctl("stop", "deaf");
    await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/deaf")).text).desired === "STOPPED");
    expect((await get("deaf")).status).toMatchObject({ phase: "Running", containerStatuses: [{ state: { running: {} } }] });
    expect((await stopping).status).toBe(0);
    expect(performance.now() - begun).toBeGreaterThan(2900);
    const { status } = await get("deaf");
    expect(status).toMatchObject({ phase: "Failed", message: expect.stringContaining("the task was stopped") });
    expect(status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 137, signal: 9 });
    const told = (await eventsOf(scene.socket, 0)).filter(({ data }) => data["type"] === "task" && data["known"] === "STOPPED");
    expect(JSON.stringify(told.map(({ data }) => data["reason"]))).toContain("StoppedByUser");
    await until(() => rows.includes("STOPPED"));
    await daemon.kill();
    const unreachable = await scene.ctl("get", "deaf", "-o", "json");
    expect(unreachable).toMatchObject({ status: 3, stderr: expect.stringContaining("no daemon answers") });
    expect(JSON.parse(unreachable.stdout)).toEqual({
      metadata: { name: "deaf" },
      status: { phase: "Unknown", reason: "EngineUnreachable", message: expect.stringContaining("no daemon answers") },
    });
    expect(await scene.ctl("get", "-o", "json")).toMatchObject({ status: 3, stdout: "" });
    await until(() => /^deaf +main +UNKNOWN .*no daemon answers$/m.test(rows));
    await scene.daemon();
    await until(() => /UNKNOWN.*STOPPED/s.test(rows));
  });

  test("P19 after any number of pods is deleted, nothing of them is left", async () => {
    await scene.daemon();
    const left = () => namesBelow(scene.stateDir).filter((path) => /default\.p\d+\./.test(path));
    const most = Number(process.env["RUNT_PODS"] ?? 6);
    const names = Array.from({ length: most }, (_, index) => `p${index}`);
    await applied(...names.map((name) => pod(name, "true", { volumes: [{ name: "v", emptyDir: {} }] })));
    for (const name of names) await reaches(name, "Succeeded");
    expect(left().length).toBeGreaterThan(0);
    for (const name of names) expect((await scene.ctl("delete", name)).status).toBe(0);
    await until(() => left().length === 0);
  });

  test("P3 P15 a deployment runs its replicas; a job runs one completion after the other, and is not run again", async () => {
    await scene.daemon();
    const shared = sharedIn(scene, "work");
    const template = (script: string, spec: object) => ({
      metadata: { labels: { app: "a" }, annotations: { "runt.dev/rootfs.main": scene.rootfs() } },
      spec: {
        ...spec,
        terminationGracePeriodSeconds: 5,
        containers: [{ name: "main", command: ["/bin/sh", "-c", script], volumeMounts: [{ name: "s", mountPath: "/s" }] }],
        volumes: [{ name: "s", hostPath: { path: shared.directory } }],
      },
    });
    const deployment = JSON.stringify({
      ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } },
      spec: { replicas: 2, selector: { matchLabels: { app: "a" } }, template: template(SLEEP, {}) },
    });
    const job = JSON.stringify({
      ...{ apiVersion: "batch/v1", kind: "Job", metadata: { name: "work" } },
      spec: {
        completions: 2,
        template: template('echo "$(hostname)" >> /s/lines; sleep 0.3; echo end >> /s/lines', { restartPolicy: "Never" }),
      },
    });
    await applied(deployment, job);
    for (const name of ["work-0", "work-1"]) await reaches(name, "Succeeded");
    for (const name of ["web-0", "web-1"]) await reaches(name, "Running");
    expect(shared.lines()).toEqual(["work-0", "end", "work-1", "end"]);
    expect((await get("web-1")).metadata.annotations["runt.dev/owner"]).toBe("Deployment/web");
    expect((await apply(deployment, job)).stdout).toBe(
      "task web-0 unchanged\ntask web-1 unchanged\ntask work-0 has succeeded already\ntask work-1 has succeeded already\n",
    );
    for (const name of ["web-0", "web-1", "work-0", "work-1"]) expect((await scene.ctl("delete", name)).status).toBe(0);
  });

  test("P21 P34 the host as a node: its measured capacity, and the share that pods use", async () => {
    await scene.daemon({ args: ["--cpus", "4", "--memory", "1Gi"] });
    const resources = { requests: { cpu: "500m", memory: "64Mi" }, limits: { cpu: "500m", memory: "64Mi" } };
    await applied(pod("web", "", { containers: [{ name: "main", command: ["/bin/sh", "-c", SLEEP], resources }] }));
    await reaches("web", "Running");
    const node = JSON.parse((await scene.ctl("node", "-o", "json")).stdout);
    expect(node).toMatchObject({ apiVersion: "v1", kind: "Node", status: { capacity: { cpu: "4", memory: String(2 ** 30) } } });
    expect(node.status.allocatable).toMatchObject({ cpu: "3500m", memory: String(2 ** 30 - 64 * 2 ** 20) });
    expect(node.status.nodeInfo.bootID).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
    const available = Number(/^MemAvailable:\s+(\d+)/m.exec(readFileSync("/proc/meminfo", "utf8"))![1]) / 1024;
    const told = node.status.conditions.find(({ type }: { type: string }) => type === "MemoryPressure");
    expect(Number(/^(\d+)Mi of/.exec(told.message)![1])).toBeGreaterThan(available / 4);
    expect(node.status.conditions.find(({ type }: { type: string }) => type === "Ready").status).toBe("True");
    const text = (await scene.ctl("node")).stdout;
    expect(text).toMatch(/^CPUs: +4, of which tasks ask for 0\.5$/m);
    expect(text).toMatch(/^Ready: +True/m);
    expect((await scene.ctl("get", "web", "-o", "yaml")).stdout).toMatch(/^apiVersion: v1\nkind: Pod\n/);
    expect((await scene.ctl("exec", "web", "--", "/bin/sh", "-c", "exit 7")).status).toBe(7);
    expect((await scene.ctl("delete", "web")).status).toBe(0);
  });
});

describe.skipIf(!isRoot || noNetworks !== undefined)("addresses of pods (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);

  test("P31 the address of a pod is that of its interface", async () => {
    await host.daemon();
    const ports = [{ containerPort: 80, hostPort: 18_090 }];
    const env = [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }];
    const command = ["/bin/sh", "-c", `echo $0 $POD_IP; ${SLEEP}`, "at-$(POD_IP)"];
    const text = podText(scene.rootfs(), "web", "", { containers: [{ name: "main", command, ports, env }] });
    expect((await scene.ctl("apply", "-f", scene.file("pod.yaml", text))).status).toBe(0);
    const get = async () => JSON.parse((await scene.ctl("get", "web", "-o", "json")).stdout);
    await until(async () => (await get()).status.phase === "Running");
    const { podIP, podIPs } = (await get()).status;
    const pid = scene.list().find(({ id, status }) => id.includes(".main-") && status === "running")!.pid;
    const seen = execFileSync("nsenter", [`--net=/proc/${pid}/ns/net`, "ip", "-o", "-4", "addr", "show", "eth0"], { encoding: "utf8" });
    expect(seen).toContain(` ${podIP}/`);
    expect(podIPs[0]).toEqual({ ip: podIP });
    await until(async () => (await scene.ctl("logs", "web")).stdout === `at-${podIP} ${podIP}\n`);
    expect((await scene.ctl("delete", "web")).status).toBe(0);
    await until(async () => (await host.left()).length === 0);
  });
});
