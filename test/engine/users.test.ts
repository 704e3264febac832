/** Pods with users of their own: hostUsers: false. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { baseLayer, writeLayout } from "./image-files.ts";
import { useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
const FIRST = 0x7000_0000;

describe.skipIf(!isRoot || !HAS_PROGRAMS)("users of pods (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const images = () => {
    const Volumes = { "/data": {}, "/etc": {} };
    writeLayout(join(scene.directory, "names/app"), { layers: [baseLayer()], tag: "v1", config: { Volumes } });
    vi.stubEnv("RUNT_IMAGES", `oci:${scene.directory}/names`);
  };
  const daemon = async (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) => {
    images();
    return scene.daemon({ args, env });
  };
  const pod = (name: string, script: string, spec: object = {}, container: object = {}) =>
    JSON.stringify({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name } },
      spec: {
        ...{ hostUsers: false, restartPolicy: "Never", terminationGracePeriodSeconds: 5 },
        ...spec,
        containers: [{ name: "main", image: "app:v1", command: ["/bin/sh", "-c", script], ...container }],
      },
    });
  const apply = (...texts: string[]) => scene.ctl("apply", "-f", scene.file("pod.yaml", texts.join("\n---\n")));
  const status = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout).status;
  const reaches = async (name: string, phase: string) =>
    until(
      async () => (await status(name)).phase === phase,
      undefined,
      () => JSON.stringify(scene.list()),
    );
  const containers = () => scene.list().filter(({ id }) => id.includes(".main-"));
  const usersLeft = () => readdirSync(join(scene.directory, "run")).filter((name) => name.startsWith("users"));
  const printed = async (name: string) => (await scene.ctl("logs", name, "-c", "main")).stdout;

  test("P4 root of a pod with hostUsers: false has no rights on the host, and owns its image and volumes", async () => {
    await daemon();
    const directory = join(scene.directory, "host");
    mkdirSync(directory, { recursive: true });
    const script = [
      "id -u; cat /proc/self/uid_map",
      "stat -c '%n %u:%g' / /etc/passwd /data /scratch /memory /host /words /words/word /dev/termination-log",
      "touch /etc/new /data/new /scratch/new /memory/new /host/new && cat /words/word",
      "echo out > /dev/stdout; echo bye > /dev/termination-log",
    ].join("; ");
    const volumes = [
      { name: "scratch", emptyDir: {} },
      { name: "memory", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } },
      { name: "host", hostPath: { path: directory } },
      { name: "words", downwardAPI: { defaultMode: 0o400, items: [{ path: "word", fieldRef: { fieldPath: "metadata.name" } }] } },
    ];
    const volumeMounts = volumes.map(({ name }) => ({ name, mountPath: `/${name}` }));
    expect(await apply(pod("web", script, { volumes }, { volumeMounts }))).toMatchObject({ status: 0, stderr: "" });
    await reaches("web", "Succeeded");
    const [uid, map, ...rest] = (await printed("web")).trimEnd().split("\n");
    expect([uid, map!.trim().split(/\s+/)]).toEqual(["0", ["0", String(FIRST), "65536"]]);
    expect((await scene.ctl("describe", "web")).stdout).toContain(`0 to 65535 are ${FIRST} to ${FIRST + 65_535} of the host`);
    const owners = ["/", "/etc/passwd", "/data", "/scratch", "/memory", "/host", "/words", "/words/word", "/dev/termination-log"];
    expect(rest).toEqual([...owners.map((path) => `${path} 0:0`), "webout"]);
    expect((await status("web")).containerStatuses[0].state.terminated.message).toBe("bye\n");
    // A volume of the host has its own users there, as Kubernetes has it.
    expect(statSync(join(directory, "new")).uid).toBe(0);
    expect((await scene.ctl("delete", "web")).status).toBe(0);
    await until(() => usersLeft().length === 0);
    expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(`${scene.directory}/run/users-`);
  });

  test("P17 each pod has other user ids; a pod that was made and not started is made again", async () => {
    const wrapper = join(scene.directory, "runt-that-kills");
    // The daemon dies when it asks for a start.
    const text = `#!/bin/sh\ncase "$*" in *" start "*.main-*) kill -9 $PPID; exit 1 ;; esac\nexec ${REPOSITORY}/bin/runt "$@"\n`;
    writeFileSync(wrapper, text, { mode: 0o755 });
    const first = await daemon(["--runtime", wrapper]);
    const again = { restartPolicy: "Always" };
    expect(await apply(pod("web", `echo up; ${SLEEP}`, again))).toMatchObject({ status: 0 });
    await first.ended;
    const second = await daemon();
    await until(async () => (await printed("web")) === "up\n");
    expect(await apply(pod("web", `echo up; ${SLEEP}`, again), pod("other", SLEEP, again))).toMatchObject({ status: 0 });
    await reaches("other", "Running");
    const maps = () => containers().map(({ pid }) => readFileSync(`/proc/${pid}/uid_map`, "utf8").trim().split(/\s+/)[1]);
    expect(maps().sort()).toEqual([String(FIRST), String(FIRST + 65_536)]);
    const before = containers();
    await second.kill();
    await daemon();
    expect(containers()).toEqual(before);
    expect((await scene.ctl("restart", "web")).status).toBe(0);
    await until(
      () =>
        containers().length === 2 &&
        containers().every(
          ({ id, pid, status }) => status === "running" && (id.includes("other") || !before.some((one) => one.pid === pid)),
        ),
    );
    // The phase of the pod was Running all the time.
    await until(async () => (await status("web")).containerStatuses[0].state.running !== undefined);
    expect((await scene.ctl("exec", "web", "-c", "main", "--", "/bin/sh", "-c", "id -u; touch /etc/more")).stdout).toBe("0\n");
    for (const name of ["web", "other"]) expect((await scene.ctl("delete", name)).status).toBe(0);
    await until(() => usersLeft().length === 0);
  });

  test("P4 with procMount Unmasked no path is masked", async () => {
    await daemon();
    const script =
      "for name in net/ipv4/ip_forward kernel/printk_ratelimit; do cat /proc/sys/$name > /proc/sys/$name; done 2>&1; wc -c < /proc/keys";
    const capabilities = { add: ["NET_ADMIN"] };
    const contexts = { plain: { capabilities }, unmasked: { capabilities, procMount: "Unmasked" } };
    for (const [name, securityContext] of Object.entries(contexts))
      expect(await apply(pod(name, script, {}, { securityContext }))).toMatchObject({ status: 0, stderr: "" });
    for (const name of Object.keys(contexts)) await reaches(name, "Succeeded");
    const [plain, unmasked] = [await printed("plain"), await printed("unmasked")];
    expect(plain.match(/Read-only file system/g)).toHaveLength(2);
    expect(plain).toMatch(/^0$/m);
    expect(unmasked.trimEnd().split("\n")).toEqual([
      expect.stringMatching(/printk_ratelimit: Permission denied$/),
      expect.not.stringMatching(/^0$/),
    ]);
  });

  test.skipIf(noNetworks !== undefined)("P15 a pod with hostUsers: false has ports", async () => {
    images();
    await host.daemon();
    const script = "mkdir -p /tmp/web && id -u > /tmp/web/name && busybox httpd -p 80 -h /tmp/web && echo up; sleep 1000";
    const ports = [{ containerPort: 80, hostPort: 18_080 }];
    expect(await apply(pod("web", script, {}, { ports }))).toMatchObject({ status: 0, stderr: "" });
    await until(async () => (await printed("web")) === "up\n");
    expect(await host.on(process.execPath, "-e", "fetch('http://127.0.0.1:18080/name').then((a) => a.text()).then(console.log)")).toBe(
      "0\n\n",
    );
    expect((await scene.ctl("delete", "web")).status).toBe(0);
    await until(async () => (await host.left()).length === 0 && usersLeft().length === 0);
  });

  test("P16 a pod for which users cannot be made fails, and its message says why", async () => {
    const programs = join(scene.directory, "programs");
    mkdirSync(programs, { recursive: true });
    writeFileSync(join(programs, "unshare"), "#!/bin/sh\necho 'unshare: unshare failed: No space left on device' >&2\nexit 1\n", {
      mode: 0o755,
    });
    await daemon([], { PATH: `${programs}:${process.env["PATH"]}` });
    expect(await apply(pod("web", "true"))).toMatchObject({ status: 0 });
    await reaches("web", "Failed");
    expect((await status("web")).message).toContain(
      "no users of its own can be made for the task: unshare --user has failed: unshare: unshare failed: No space left on device",
    );
    expect(usersLeft()).toEqual([]);
  });
});
