/** Tasks and pods that name a runtime of the host. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { REPOSITORY } from "../support/programs.ts";
import { isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

describe.skipIf(!isRoot)("runtimes of the host (needs root)", () => {
  const scene = useEngine();
  const program = () => join(scene.directory, "other-runt");
  const calls = () => {
    const file = join(scene.directory, "calls");
    return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  };
  beforeEach(() => {
    const text = `#!/bin/sh\necho "$*" >> ${scene.directory}/calls\nexec ${REPOSITORY}/bin/runt "$@"\n`;
    writeFileSync(program(), text, { mode: 0o755 });
  });
  /** A daemon with a runtime `vm` that makes machines. */
  const machines = () => {
    const link = join(scene.directory, "runt-vm");
    if (!existsSync(link)) symlinkSync(join(REPOSITORY, "bin/runt"), link);
    return scene.daemon({ args: ["--runtime-class", `vm=${link}`] });
  };
  const daemon = () => scene.daemon({ args: ["--runtime-class", `other=${program()}`] });
  const pod = (name: string, fields: string) => {
    const head = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n  annotations: { runt.dev/rootfs.main: ${scene.rootfs()} }\n`;
    return `${head}spec:\n  terminationGracePeriodSeconds: 5\n  containers:\n  - { name: main, command: [/bin/sh, -c, "${SLEEP}"] }\n${fields}`;
  };
  const apply = (text: string) => scene.ctl("apply", "-f", scene.file("pod.yaml", text));
  const status = async (name: string) => JSON.parse((await scene.ctl("get", name, "-o", "json")).stdout).status;
  const reaches = (name: string, phase: string) => until(async () => (await status(name)).phase === phase);
  const launches = () => calls().filter((line) => / run --detach /.test(line));

  test("P3 the runtime of its class makes the containers of a pod", async () => {
    await daemon();
    expect(await apply(pod("usual", ""))).toMatchObject({ status: 0 });
    await reaches("usual", "Running");
    expect(launches()).toEqual([]);
    expect(await apply(pod("web", "  runtimeClassName: other\n"))).toMatchObject({ status: 0, stderr: "" });
    await reaches("web", "Running");
    // The container that holds the namespaces is made by the usual program.
    expect(launches()).toEqual([expect.stringMatching(/ default\.web\.\d+\.main-\w+\.1$/)]);
    expect((await scene.ctl("exec", "web", "-c", "main", "--", "/bin/true")).status).toBe(0);
    expect((await scene.ctl("delete", "web")).status).toBe(0);
  });

  test("P16 an unknown runtime is refused with line and column", async () => {
    await daemon();
    const refused = await apply(pod("web", "  runtimeClassName: kata\n"));
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toMatch(/pod\.yaml:10:3: \/spec\/runtimeClassName: this host has no runtime kata: it has other\n/);
    const task = (runtime: string) =>
      JSON.stringify({ name: "t", runtime, containers: [{ name: "c", rootfs: scene.rootfs(), command: "x" }] });
    expect((await apply(task("constructor"))).stderr).toContain("/runtime: t: this host has no runtime constructor: it has other");
    expect((await apply(task("../x"))).stderr).toContain("is no name of a runtime");
    const compose = scene.file("compose.yaml", `services: { web: { x-runt-rootfs: ${scene.rootfs()}, command: x, runtime: kata } }\n`);
    expect((await scene.ctl("apply", "-f", compose, "-p", "shop")).stderr).toContain("this host has no runtime kata");
    expect(scene.list()).toEqual([]);
  });

  test("P16 fields that a machine cannot have are refused with line and column, and nothing is made", async () => {
    await machines();
    const two = "  - { name: two, command: [/bin/true], securityContext: { privileged: true } }\n";
    const text = pod("web", `${two}  runtimeClassName: vm\n  hostPID: true\n`).replace(
      "rootfs.main",
      `rootfs.two: ${scene.rootfs()}, runt.dev/rootfs.main`,
    );
    const refused = await apply(text);
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    const cannot = "a task in a virtual machine cannot have";
    expect(refused.stderr).toContain(`pod.yaml:10:59: /spec/containers/1/securityContext/privileged: ${cannot} a privileged container`);
    expect(refused.stderr).toContain(`pod.yaml:12:3: /spec/hostPID: ${cannot} the pid namespace of the host`);
    const task = { name: "t", runtime: "vm", containers: [{ name: "c", rootfs: scene.rootfs(), command: "x", privileged: true }] };
    expect((await apply(JSON.stringify(task))).stderr).toContain(`/containers/0/privileged: ${cannot} a privileged container`);
    expect(scene.list()).toEqual([]);
    expect(JSON.parse((await scene.ctl("get", "-o", "json")).stdout)).toEqual([]);
  });

  test("P16 a pod whose directory of the host is a socket ends before its machine boots", async () => {
    await machines();
    const volume = `  volumes: [{ name: v, hostPath: { path: ${scene.socket} } }]\n`;
    const text = pod("web", `  runtimeClassName: vm\n  restartPolicy: Never\n${volume}`).replace(
      "name: main,",
      "name: main, volumeMounts: [{ name: v, mountPath: /v }],",
    );
    expect(await apply(text)).toMatchObject({ status: 0 });
    await reaches("web", "Failed");
    expect((await status("web")).message).toContain(`${scene.socket} is neither a file nor a directory: a virtual machine cannot use it`);
    expect(scene.list()).toEqual([]);
  });

  test("P17 a daemon whose second runtime is gone keeps the pods that run by it, and says in their status why they cannot be started again", async () => {
    const first = await daemon();
    const started = "  runtimeClassName: other\n  restartPolicy: Always\n";
    expect(await apply(`${pod("web", started)}---\n${pod("other", started)}`)).toMatchObject({ status: 0, stderr: "" });
    for (const name of ["web", "other"]) await reaches(name, "Running");
    const before = scene.list();
    await first.kill();
    await scene.daemon();
    for (const name of ["web", "other"]) expect((await status(name)).phase).toBe("Running");
    expect(scene.list()).toEqual(before);
    expect((await scene.ctl("restart", "other")).status).toBe(0);
    await until(async () => JSON.stringify(await status("other")).includes("this host has no runtime other: it has none"));
    for (const name of ["web", "other"]) expect((await scene.ctl("delete", name)).status).toBe(0);
    await until(() => scene.list().length === 0);
  });

  test("P16 a pod whose runtime is a program of another kind fails with that as its message; pods of the usual runtime run", async () => {
    await daemon();
    writeFileSync(program(), "#!/bin/sh\necho 'runc version 1.1.0'\n");
    expect(await apply(pod("web", "  runtimeClassName: other\n  restartPolicy: Never\n"))).toMatchObject({ status: 0 });
    await reaches("web", "Failed");
    expect((await status("web")).message).toContain("other-runt is not runt");
    expect(await apply(pod("usual", ""))).toMatchObject({ status: 0 });
    await reaches("usual", "Running");
  });
});
