/** interLink's plug-in API, asked by raw HTTP: its GETs have bodies. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { baseLayer, writeLayout } from "./image-files.ts";
import { contractIn } from "./openapi.ts";
import { raw, requestOf } from "./raw-http.ts";
import { isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
const UID = "8e4a3c52-7b1e-4c8e-9a53-0d8a0f6f1a01";

describe.skipIf(!isRoot || !HAS_PROGRAMS)("interLink (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const socket = () => join(scene.directory, "run/interlink.sock");
  const contract = contractIn(readFileSync(new URL("../fixtures/interlink/plugin-openapi.json", import.meta.url), "utf8"));
  /** Each answer that their document knows is held against it. */
  const ask = async (method: string, path: string, body: unknown, place: string | number = socket()) => {
    const answer = await raw(place, requestOf(method, path, body));
    if (contract.document.paths[path]?.[method.toLowerCase()]?.responses[answer.status] !== undefined)
      expect(contract.objection(method, path, answer.status, answer.text)).toBeUndefined();
    return answer;
  };
  const images = () => {
    writeLayout(join(scene.directory, "names/app"), { layers: [baseLayer()], tag: "v1" });
    vi.stubEnv("RUNT_IMAGES", `oci:${scene.directory}/names`);
  };
  const daemon = async (...further: string[]) => {
    images();
    return scene.daemon({ args: ["--interlink", "--interlink-network", "none", ...further] });
  };
  /** As a cluster sends it: with what its API server has added. */
  const pod = (script: string, spec: object = {}, container: object = {}) => ({
    metadata: {
      name: "job",
      namespace: "team",
      uid: UID,
      creationTimestamp: "2026-01-01T00:00:00Z",
      ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "job", uid: "x" }],
      managedFields: [{ manager: "kubectl" }],
    },
    spec: {
      containers: [
        {
          name: "main",
          image: "app:v1",
          command: ["/bin/sh", "-c", script],
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
          imagePullPolicy: "IfNotPresent",
          ...container,
        },
      ],
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 5,
      dnsPolicy: "ClusterFirst",
      nodeName: "virtual-node",
      nodeSelector: { "kubernetes.io/hostname": "virtual-node" },
      schedulerName: "default-scheduler",
      serviceAccountName: "default",
      priority: 0,
      preemptionPolicy: "PreemptLowerPriority",
      enableServiceLinks: true,
      tolerations: [{ key: "virtual-node.interlink/no-schedule", operator: "Exists" }],
      securityContext: {},
      ...spec,
    },
    status: { phase: "Pending" },
  });
  const create = (body: object, container: object = {}) =>
    ask("POST", "/create", { pod: body, container: [{ name: "main", ...container }] });
  const statuses = async (...uids: string[]) =>
    JSON.parse(
      (
        await ask(
          "GET",
          "/status",
          uids.map((uid) => ({ metadata: { name: "job", namespace: "team", uid }, spec: {} })),
        )
      ).text,
    );
  const logs = (opts: object = {}, container = "main") =>
    ask("GET", "/getLogs", {
      Namespace: "team",
      PodUID: UID,
      PodName: "job",
      ContainerName: container,
      Opts: { Tail: 0, Bytes: 0, SinceTime: "0001-01-01T00:00:00Z", ...opts },
    });
  const terminated = async () => (await statuses(UID))[0]?.containers[0].state.terminated;

  test("P15 P24 a pod of a cluster: created once, with its ConfigMaps, Secrets and token; its status, its log, and its end", async () => {
    await daemon();
    const script =
      "cat /conf/word; echo; cat /keys/token; echo; cat /var/run/secrets/kubernetes.io/serviceaccount/token; echo; id -u; i=0; while [ $i -lt 5 ]; do i=$((i+1)); echo line $i; done; exit 3";
    const body = pod(
      script,
      {
        volumes: [
          { name: "conf", configMap: { name: "conf", defaultMode: 420 } },
          { name: "keys", secret: { secretName: "keys", defaultMode: 256 } },
          {
            name: "kube-api-access-x",
            projected: { defaultMode: 420, sources: [{ serviceAccountToken: { expirationSeconds: 3607, path: "token" } }] },
          },
        ],
      },
      {
        volumeMounts: [
          { name: "conf", mountPath: "/conf" },
          { name: "keys", mountPath: "/keys" },
          { name: "kube-api-access-x", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount", readOnly: true },
        ],
      },
    );
    const sent = {
      configMaps: [{ metadata: { name: "conf", namespace: "team", creationTimestamp: null }, data: { word: "hello" } }],
      secrets: [{ metadata: { name: "keys", namespace: "team" }, data: { token: Buffer.from("s3cr3t").toString("base64") } }],
      projectedvolumemaps: [{ metadata: { name: "kube-api-access-x", namespace: "team" }, data: { token: "jwt" } }],
    };
    const answer = await create(body, sent);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { PodUID: UID, PodJID: `interlink.${UID}.1`, pod_uid: UID, pod_jid: `interlink.${UID}.1` },
    ]);
    expect((await create(body, sent)).text).toBe(answer.text);
    await until(async () => (await terminated()) !== undefined);
    expect(await terminated()).toMatchObject({ exitCode: 3, exit_code: 3, reason: "Error" });
    expect((await statuses(UID))[0]).toMatchObject({
      name: "job",
      namespace: "team",
      uid: UID,
      JID: `interlink.${UID}.1`,
      initContainers: [],
    });
    expect((await logs()).text).toBe("hello\ns3cr3t\njwt\n0\nline 1\nline 2\nline 3\nline 4\nline 5\n");
    expect((await logs({ Tail: 2 })).text).toBe("line 4\nline 5\n");
    expect((await logs({ Bytes: 7 })).text).toBe("hello\ns");
    expect((await logs({ Timestamps: true, Tail: 1 })).text).toMatch(/^\d{4}-\d\d-\d\dT\S+ line 5\n$/);
    // The names of the published document.
    const other = { namespace: "team", pod_uid: UID, pod_name: "job", container_name: "main", opts: { tail: 1 } };
    expect((await ask("GET", "/getLogs", other)).text).toBe("line 5\n");
    expect((await ask("POST", "/delete", body)).status).toBe(200);
    await until(async () => (await statuses(UID)).length === 0);
    expect((await ask("POST", "/delete", body)).status).toBe(200);
  });

  test("P16 errors are reported: invalid JSON, no pod, an unsupported pod, another path, logs of an unknown pod; an empty request gets an empty answer", async () => {
    await daemon();
    expect(await ask("POST", "/create", "no json")).toMatchObject({ status: 422, text: expect.stringContaining("is no JSON") });
    expect(await ask("POST", "/create", {})).toMatchObject({ status: 422, text: expect.stringContaining('"loc":["body","pod"]') });
    const wrong = await create(pod("x", { resourceClaims: [{ name: "gpu" }] }));
    expect(JSON.parse(wrong.text).detail[0]).toMatchObject({
      loc: ["body", "pod", "spec", "resourceClaims"],
      msg: expect.stringContaining("is not supported"),
    });
    expect((await ask("GET", "/nothing", "")).status).toBe(404);
    expect((await logs()).status).toBe(404);
    expect(await ask("GET", "/getLogs", { Opts: {} })).toMatchObject({ status: 422 });
    for (const nothing of ["", "null", "[]"]) expect(await ask("GET", "/status", nothing)).toMatchObject({ status: 200, text: "[]" });
    expect(await statuses("unknown")).toEqual([]);
    expect((await ask("POST", "/create", `"${"x".repeat(4 * 1024 * 1024)}"`)).status).toBe(413);
    expect(scene.list()).toEqual([]);
  });

  test("tasks of this host are nobody's pods: neither by name, nor by id, nor by address", async () => {
    await daemon();
    const text = JSON.stringify({
      name: "mine",
      containers: [{ name: "a", rootfs: scene.rootfs(), command: "/bin/sh", args: ["-c", SLEEP] }],
    });
    expect((await scene.ctl("apply", "-f", scene.file("mine.yaml", text))).status).toBe(0);
    const rows = async () => (await scene.ctl("get")).stdout;
    await until(async () => /mine +a +RUNNING/.test(await rows()));
    for (const uid of ["default.mine.1", "10.0.0.1", "fd00::1", "../mine", ""]) {
      const body = { metadata: { name: "job", namespace: "team", uid } };
      expect((await ask("GET", "/status", [body])).status).toBe(422);
      expect((await ask("POST", "/delete", body)).status).toBe(422);
      expect((await ask("GET", "/getLogs", { PodUID: uid, ContainerName: "a", Opts: {} })).status).toBe(422);
    }
    expect(await statuses("mine")).toEqual([]);
    expect((await ask("POST", "/delete", { metadata: { uid: "mine" } })).status).toBe(200);
    expect((await ask("GET", "/getLogs", { PodUID: "mine", ContainerName: "a", Opts: {} })).status).toBe(404);
    expect(await rows()).toMatch(/mine +a +RUNNING/);
    expect((await scene.ctl("delete", "mine")).status).toBe(0);
  });

  test("the profile restricted: nothing of the host", async () => {
    await daemon("--interlink-host-path", scene.directory);
    const told = async (spec: object, container: object = {}) => {
      const { status, text } = await create(pod("true", spec, container));
      return [status, ...JSON.parse(text).detail.map(({ loc }: { loc: string[] }) => loc.slice(2).join("/"))];
    };
    for (const field of ["hostNetwork", "hostPID", "hostIPC"]) expect(await told({ [field]: true })).toEqual([422, `spec/${field}`]);
    expect(await told({ securityContext: { sysctls: [{ name: "kernel.sem", value: "1" }] } })).toEqual([
      422,
      "spec/securityContext/sysctls/0",
    ]);
    const own = "spec/containers/0";
    expect(await told({}, { securityContext: { privileged: true } })).toEqual([422, `${own}/securityContext/privileged`]);
    expect(await told({}, { securityContext: { capabilities: { add: ["SYS_ADMIN"] } } })).toEqual([
      422,
      `${own}/securityContext/capabilities/add`,
    ]);
    expect(await told({}, { securityContext: { seccompProfile: { type: "Unconfined" } } })).toEqual([
      422,
      `${own}/securityContext/seccompProfile`,
    ]);
    expect(await told({}, { image: `oci:${scene.directory}/names/app:v1` })).toEqual([422, `${own}/image`]);
    expect(await told({}, { volumeDevices: [{ name: "a", devicePath: "/dev/a" }] })).toEqual([422, `${own}/volumeDevices`]);
    const volume = (path: string) => ({ volumes: [{ name: "v", hostPath: { path } }] });
    for (const path of ["/etc", `${scene.directory}/../etc`])
      expect(await told(volume(path))).toEqual([422, "spec/volumes/0/hostPath/path"]);
    expect(await told(volume(scene.directory), { volumeMounts: [{ name: "v", mountPath: "/v", subPath: "names" }] })).toEqual([
      422,
      `${own}/volumeMounts/0/subPath`,
    ]);
    const { metadata, ...rest } = pod("true");
    const annotated = await create({ ...rest, metadata: { ...metadata, annotations: { "runt.dev/rootfs.main": "/" } } });
    expect([annotated.status, annotated.text.includes("runt.dev/rootfs.main")]).toEqual([422, true]);
    expect(scene.list()).toEqual([]);
  });

  test("hostPath: what the operator gives away, as it is when it is mounted; neither a link, nor a socket or the state of the daemon", async () => {
    await daemon("--interlink-host-path", scene.directory);
    const given = join(scene.directory, "given");
    rmSync(given, { recursive: true, force: true });
    mkdirSync(join(given, "data"), { recursive: true });
    chmodSync(given, 0o777);
    const run = async (path: string) => {
      const mounts = { volumeMounts: [{ name: "v", mountPath: "/v" }] };
      const { status, text } = await create(
        pod(`ls -a /v; echo written > /v/mark; ${SLEEP}`, { volumes: [{ name: "v", hostPath: { path } }] }, mounts),
      );
      expect([status, text]).toEqual([200, expect.stringContaining(UID)]);
      const ended = async () => (await statuses(UID))[0]?.containers[0].state;
      await until(async () => {
        const state = await ended();
        return (
          state?.running !== undefined ||
          state?.terminated !== undefined ||
          /Failed|STOPPED/.test((await scene.ctl("-g", "interlink", "get")).stdout)
        );
      });
      const described = (await scene.ctl("-g", "interlink", "describe", UID)).stdout;
      expect((await ask("POST", "/delete", pod("x"))).status).toBe(200);
      await until(async () => (await statuses(UID)).length === 0);
      return described;
    };
    expect(await run(join(given, "data"))).toMatch(/main +RUNNING|Container main +RUNNING/);
    // It was the host's directory, and is not emptied with the pod.
    expect(readFileSync(join(given, "data/mark"), "utf8")).toBe("written\n");
    symlinkSync("/etc", join(given, "link"));
    expect(await run(join(given, "link"))).toContain("is a symbolic link");
    for (const own of ["run/admin.sock", "run/interlink.sock", "run", "state", "state/engine.db", ""])
      expect(await run(join(scene.directory, own))).toContain("is the engine's own");
    expect(execFileSync("cat", ["/proc/self/mountinfo"], { encoding: "utf8" })).not.toContain(`${scene.stateDir}/volumes/`);
  });

  test("over TCP only with the token, and by a name of this host", async () => {
    images();
    const token = "t".repeat(40);
    const file = join(scene.directory, "token");
    writeFileSync(file, `${token}\n`, { mode: 0o644 });
    const port = 20_000 + (process.pid % 10_000);
    const args = ["--interlink", "--interlink-listen", `127.0.0.1:${port}`, "--interlink-host", "edge.example", "--interlink-token", file];
    const open = scene.spawn({ args });
    expect(await open.ended).not.toBe(0);
    expect(open.log()).toContain("chmod 0600");
    chmodSync(file, 0o600);
    await scene.daemon({ args });
    const asked = (headers: Readonly<Record<string, string>>) => raw(port, requestOf("GET", "/status", "[]", headers));
    const bearer = { Authorization: `Bearer ${token}` };
    expect(await asked({ Host: `127.0.0.1:${port}`, ...bearer })).toMatchObject({ status: 200, text: "[]" });
    expect((await asked({ Host: "edge.example", ...bearer })).status).toBe(200);
    expect((await asked({ Host: "evil.example", ...bearer })).status).toBe(421);
    for (const wrong of [{}, { Authorization: "Bearer x" }, { Authorization: `Bearer ${token}x` }, { Authorization: `Basic ${token}` }])
      expect((await asked({ Host: "edge.example", ...wrong })).status).toBe(401);
    expect(existsSync(socket())).toBe(false);
  });

  test.skipIf(contract === undefined)("every answer that interLink's document promises was seen above, and held against it", () => {
    expect([...contract!.seen].sort()).toEqual([...contract!.promised].sort());
  });
});
