/** Hooks of pods by HTTP and by waiting, how they share the grace period of their pod, and grace periods of probes. */
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { isRoot, sharedIn, until, useEngine } from "./support.ts";

describe.skipIf(!isRoot)("hooks of pods (need root)", () => {
  const scene = useEngine();
  let server: Server | undefined;
  afterEach(() => server?.close());

  const pod = (name: string, script: string, container: object, spec: object = {}) =>
    JSON.stringify({
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, annotations: { "runt.dev/rootfs.a": scene.rootfs() } },
      spec: { restartPolicy: "Never", ...spec, containers: [{ name: "a", command: ["/bin/sh", "-c", script], ...container }] },
    });
  const apply = async (...texts: string[]) =>
    expect(await scene.ctl("apply", "-f", scene.file("pod.yaml", texts.join("\n---\n")))).toMatchObject({ status: 0, stderr: "" });
  const statusOf = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout).status;
  const reaches = (name: string, phase: string) => until(async () => (await statusOf(name)).phase === phase);
  /** It does not end by the stop signal. */
  const DEAF = "trap '' TERM; exec sleep 1000";

  test("P4 hooks over HTTP: any answer is a success; no answer is a failure that ends the container", async () => {
    await scene.daemon();
    const seen: string[] = [];
    server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers["x-hook"]}`);
      response.writeHead(503).end("busy");
    });
    await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const httpGet = (path: string) => ({ httpGet: { path, port, httpHeaders: [{ name: "X-Hook", value: "yes" }] } });
    const lifecycle = { postStart: httpGet("/begun"), preStop: httpGet("/ends") };
    await apply(
      pod("web", "trap 'exit 0' TERM; sleep 1000 & wait", { lifecycle }, { hostNetwork: true }),
      pod("alone", DEAF, { lifecycle: { postStart: { httpGet: { port: 1 } } } }, { hostNetwork: true, terminationGracePeriodSeconds: 1 }),
    );
    await until(async () => (await statusOf("web")).containerStatuses[0].ready);
    expect(seen).toEqual(["GET /begun yes"]);
    await reaches("alone", "Failed");
    expect((await scene.ctl("describe", "alone")).stdout).toContain("has failed its postStart hook");
    expect((await scene.ctl("stop", "web")).status).toBe(0);
    expect(seen).toEqual(["GET /begun yes", "GET /ends yes"]);
    expect((await statusOf("web")).containerStatuses[0].state.terminated).toMatchObject({ exitCode: 0 });
  });

  test("P18 a hook that waits delays the signal up to the grace period of its pod; two seconds of it remain for the signal", async () => {
    await scene.daemon();
    const shared = sharedIn(scene, "wait");
    const mounts = { volumeMounts: [{ name: "s", mountPath: "/s" }] };
    const volumes = [{ name: "s", hostPath: { path: shared.directory } }];
    const main = "trap 'echo signal >> /s/lines; exit 0' TERM; while :; do echo . >> /s/ticks; sleep 0.05; done";
    const preStop = { sleep: { seconds: 2 } };
    await apply(
      pod("told", main, { ...mounts, lifecycle: { preStop } }, { volumes }),
      pod("deaf", DEAF, { lifecycle: { preStop } }, { terminationGracePeriodSeconds: 5 }),
      pod(
        "ends",
        "while ! test -e /s/go; do sleep 0.05; done",
        { ...mounts, lifecycle: { preStop: { sleep: { seconds: 29 } } } },
        { volumes },
      ),
    );
    for (const name of ["told", "deaf", "ends"]) await reaches(name, "Running");
    const took = async (name: string) => {
      const begun = performance.now();
      expect((await scene.ctl("stop", name)).status).toBe(0);
      return performance.now() - begun;
    };
    expect(await took("told")).toBeGreaterThan(1900);
    expect(shared.lines()).toEqual(["signal"]);
    // 2 s for the hook and 3 s of the 5 s for the signal: with 5 s for each it would take 7 s.
    const ofDeaf = await took("deaf");
    expect(ofDeaf).toBeGreaterThan(4900);
    expect(ofDeaf).toBeLessThan(6900);
    // The hook of a container that ends meanwhile is not waited for.
    const stopping = took("ends");
    await new Promise((resolve) => setTimeout(resolve, 300));
    writeFileSync(join(shared.directory, "go"), "");
    expect(await stopping).toBeLessThan(20_000);
  });

  test("P18 P32 a container that has failed its probe has the grace period of the probe", async () => {
    await scene.daemon();
    const live = { exec: { command: ["false"] }, periodSeconds: 1, failureThreshold: 1, timeoutSeconds: 20 };
    await apply(
      pod("short", DEAF, { livenessProbe: { ...live, terminationGracePeriodSeconds: 1 } }, { terminationGracePeriodSeconds: 3600 }),
      pod("start", DEAF, { startupProbe: { ...live, terminationGracePeriodSeconds: 1 } }, { terminationGracePeriodSeconds: 3600 }),
    );
    for (const name of ["short", "start"]) {
      await reaches(name, "Failed");
      expect((await statusOf(name)).containerStatuses[0].state.terminated).toMatchObject({ exitCode: 137, signal: 9 });
    }
  });
});
