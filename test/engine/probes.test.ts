/** Probes and hooks of pods: what they do to readiness, to restarts and to what waits. */
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import { type AddressInfo, createServer as createTcp, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { isRoot, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

describe.skipIf(!isRoot)("probes of pods (need root)", () => {
  const scene = useEngine();
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  interface Named {
    readonly name: string;
  }
  const pod = (
    name: string,
    containers: readonly Named[],
    spec: { readonly initContainers?: readonly Named[]; readonly [field: string]: unknown } = {},
  ) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        annotations: Object.fromEntries(
          [...(spec.initContainers ?? []), ...containers].map((one) => [`runt.dev/rootfs.${one.name}`, scene.rootfs()]),
        ),
      },
      spec: { terminationGracePeriodSeconds: 5, containers, ...spec },
    });
  const sh = (name: string, script: string, fields: object = {}) => ({ name, command: ["/bin/sh", "-c", script], ...fields });
  const apply = async (...texts: string[]) =>
    expect(await scene.ctl("apply", "-f", scene.file("pod.yaml", texts.join("\n---\n")))).toMatchObject({ status: 0, stderr: "" });
  const get = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout);
  const first = async (name: string) => (await get(name)).status.containerStatuses[0];
  const isReady = async (name: string) =>
    (await get(name)).status.conditions.find(({ type }: { type: string }) => type === "Ready").status === "True";
  const exec = (script: string) => ({ exec: { command: ["/bin/sh", "-c", script] } });

  const listen = async (server: Server): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => server.close());
    return (server.address() as AddressInfo).port;
  };

  test("P4 P29 readiness by HTTP, TCP, gRPC and a command: the pod is ready while all succeed, and nothing is restarted when one fails", async () => {
    await scene.daemon();
    const shared = sharedIn(scene, "ready");
    const seen: string[] = [];
    let status = 503;
    const http = await listen(
      createServer((request, response) => {
        seen.push(`${request.url} ${request.headers["x-probe"]}`);
        response.writeHead(status).end("busy");
      }),
    );
    const tcp = await listen(createTcp((socket) => socket.end()));
    const asked: Buffer[] = [];
    const grpcServer = createHttp2();
    let serving = 1;
    grpcServer.on("stream", (stream, headers) => {
      if (headers[":path"] !== "/grpc.health.v1.Health/Check") return stream.close();
      stream.on("data", (chunk: Buffer) => asked.push(chunk));
      stream.on("end", () => {
        stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.end(Buffer.from([0, 0, 0, 0, 2, 8, serving]));
      });
    });
    const grpc = await listen(grpcServer);
    writeFileSync(join(shared.directory, "ok"), "");
    const often = { periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 20 };
    const mounts = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
    await apply(
      pod(
        "web",
        [
          sh("http", SLEEP, {
            readinessProbe: { httpGet: { path: "/ready?x=1", port: http, httpHeaders: [{ name: "X-Probe", value: "yes" }] }, ...often },
          }),
          sh("tcp", SLEEP, { readinessProbe: { tcpSocket: { port: tcp }, ...often } }),
          sh("grpc", SLEEP, { readinessProbe: { grpc: { port: grpc, service: "shop" }, ...often } }),
          sh("exec", SLEEP, { ...mounts, readinessProbe: { ...exec("test -e /shared/ok"), ...often } }),
        ],
        { hostNetwork: true, volumes: [{ name: "shared", hostPath: { path: shared.directory } }] },
      ),
    );
    const ready = async () => (await get("web")).status.containerStatuses.map((one: { ready: boolean }) => one.ready).join();
    await until(async () => (await ready()) === "false,true,true,true");
    expect(await isReady("web")).toBe(false);
    status = 204;
    await until(() => isReady("web"));
    expect(seen[0]).toBe("/ready?x=1 yes");
    expect(asked[0]).toEqual(Buffer.from([0, 0, 0, 0, 6, 0x0a, 4, ...Buffer.from("shop")]));
    const since = (await get("web")).status.conditions.find(({ type }: { type: string }) => type === "Ready").lastTransitionTime;
    expect(Date.parse(since)).toBeGreaterThan(Date.parse((await first("web")).state.running.startedAt) - 1);
    serving = 2;
    rmSync(join(shared.directory, "ok"));
    await until(async () => (await ready()) === "true,true,false,false");
    expect((await scene.ctl("describe", "web")).stdout).toContain("NOT_SERVING");
    expect((await get("web")).status.containerStatuses.map((one: { restartCount: number }) => one.restartCount)).toEqual([0, 0, 0, 0]);
    expect((await scene.ctl("delete", "web")).status).toBe(0);
  });

  test("P28 P32 a container that fails its liveness probe is stopped, and started again unless the restart policy is Never", async () => {
    await scene.daemon();
    // It does not end by the stop signal.
    const deaf = "while :; do sleep 0.1; done";
    const live = { livenessProbe: { ...exec("false"), periodSeconds: 1, failureThreshold: 2, timeoutSeconds: 20 } };
    await apply(
      pod("again", [sh("a", deaf, live)], { restartPolicy: "Always", terminationGracePeriodSeconds: 1 }),
      pod("never", [sh("a", deaf, live)], { restartPolicy: "Never", terminationGracePeriodSeconds: 1 }),
    );
    await until(async () => (await get("never")).status.phase === "Failed");
    const { state, restartCount } = await first("never");
    expect(restartCount).toBe(0);
    expect(state.terminated).toMatchObject({ exitCode: 137, signal: 9, reason: "Error" });
    expect((await scene.ctl("describe", "never")).stdout).toContain("has failed its liveness check 2 times in a row");
    await until(async () => (await first("again")).restartCount > 0);
    expect((await first("again")).lastState.terminated).toMatchObject({ reason: "Error" });
    expect((await scene.ctl("describe", "again")).stdout).toContain("liveness check 2 times in a row");
    expect((await get("again")).status.phase).toBe("Running");
    expect((await scene.ctl("delete", "again")).status).toBe(0);
  });

  test("P29 until its startup probe succeeds, a container does not count as started: no other probe runs, and a sidecar delays the containers", async () => {
    await scene.daemon();
    const shared = sharedIn(scene, "startup");
    const mounts = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
    const note = (word: string) => exec(`echo ${word} >> /shared/lines`);
    await apply(
      pod("slow", [sh("main", `echo main >> /shared/lines; ${SLEEP}`, mounts)], {
        initContainers: [
          sh("beside", SLEEP, {
            ...mounts,
            restartPolicy: "Always",
            startupProbe: {
              ...exec("echo startup >> /shared/lines; test -e /shared/up"),
              periodSeconds: 1,
              failureThreshold: 1000,
              timeoutSeconds: 20,
            },
            livenessProbe: { ...note("live"), periodSeconds: 1, timeoutSeconds: 20 },
          }),
        ],
        volumes: [{ name: "shared", hostPath: { path: shared.directory } }],
      }),
    );
    await until(() => shared.lines().length >= 2);
    expect(new Set(shared.lines())).toEqual(new Set(["startup"]));
    const sidecar = async () => (await get("slow")).status.initContainerStatuses[0];
    expect(await sidecar()).toMatchObject({ started: false, ready: false, state: { running: {} } });
    expect((await get("slow")).status.phase).toBe("Pending");
    writeFileSync(join(shared.directory, "up"), "");
    await until(() => shared.lines().includes("live") && shared.lines().includes("main"));
    expect(await sidecar()).toMatchObject({ started: true, ready: true });
    const count = shared.lines().filter((line) => line === "startup").length;
    await until(() => shared.lines().filter((line) => line === "live").length >= 3);
    expect(shared.lines().filter((line) => line === "startup")).toHaveLength(count);
    expect((await scene.ctl("delete", "slow")).status).toBe(0);
  });

  test("P4 a container is ready once its postStart hook has ended, and is ended if that fails; its preStop hook is run before the signal", async () => {
    await scene.daemon();
    const shared = sharedIn(scene, "hooks");
    const mounts = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
    const volumes = [{ name: "shared", hostPath: { path: shared.directory } }];
    const main = "trap 'echo signal >> /shared/lines; exit 0' TERM; sleep 1000 & wait";
    const lifecycle = {
      postStart: exec("while ! test -e /shared/go; do sleep 0.05; done; echo post >> /shared/lines"),
      preStop: exec("echo pre >> /shared/lines"),
    };
    await apply(
      pod("good", [sh("a", main, { ...mounts, lifecycle })], { volumes }),
      pod("bad", [sh("a", main, { ...mounts, lifecycle: { postStart: exec("echo no such thing >&2; exit 3") } })], {
        restartPolicy: "Never",
        volumes,
      }),
    );
    await until(async () => (await get("bad")).status.phase === "Failed" || (await get("bad")).status.phase === "Succeeded");
    expect((await scene.ctl("describe", "bad")).stdout).toContain("has failed its postStart hook: no such thing");
    await until(async () => (await first("good")).state.running !== undefined);
    expect(await first("good")).toMatchObject({ started: false, ready: false });
    writeFileSync(join(shared.directory, "go"), "");
    await until(() => isReady("good"));
    expect((await scene.ctl("stop", "good")).status).toBe(0);
    await until(async () => /Succeeded|Failed/.test((await get("good")).status.phase));
    expect(
      shared
        .lines()
        .filter((line) => line !== "signal" || shared.lines().includes("post"))
        .slice(-3),
    ).toEqual(["post", "pre", "signal"]);
  });
});
