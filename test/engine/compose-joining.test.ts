/** Services that use namespaces, parts of volumes and hooks, as /proc has them and as programs in them see them. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { namespaceOf } from "./kernel-files.ts";
import { http, isRoot, sharedIn, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const script = (text: string) => ["/bin/sh", "-c", text.replaceAll("$", "$$$$")];

describe.skipIf(!isRoot)("services that use what others have (needs root)", () => {
  const scene = useEngine();
  const service = (text: string, fields: object = {}) => ({
    ...{ "x-runt-rootfs": scene.rootfs(), network_mode: "none", entrypoint: script(text), stop_grace_period: "5s" },
    ...fields,
  });
  const project = (services: object, others: object = {}) => scene.file("compose.yaml", JSON.stringify({ services, ...others }));
  const taskOf = async (name: string) => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}?group=p`)).text);
  const pidOf = (name: string) => scene.list().find(({ id, status }) => id.includes(`.${name}-`) && status === "running")?.pid ?? 0;

  test("E95: pid and ipc of a service in another task are its namespaces, with one /dev/shm; a restart of that service does not end them", async () => {
    await scene.daemon();
    const out = sharedIn(scene, "joining");
    const volumes = ["./shared-joining:/out"];
    const file = project({
      db: service(`echo word > /dev/shm/word; echo started >> /out/lines; ${SLEEP}`, {
        volumes,
        restart: "always",
      }),
      web: service(`cat /dev/shm/word >> /out/lines; ${SLEEP}`, {
        ...{ volumes, pid: "service:db", ipc: "service:db", depends_on: ["db"] },
        healthcheck: { test: ["CMD", "test", "-e", "/dev/shm/word"], interval: "1s" },
      }),
    });
    const applied = await scene.ctl("apply", "-f", file, "-p", "p", "--wait");
    expect([applied.status, applied.stderr]).toEqual([0, ""]);
    for (const type of ["pid", "ipc"] as const) expect(namespaceOf(pidOf("web"), type)).toBe(namespaceOf(pidOf("db"), type));
    for (const type of ["net", "uts", "mnt"] as const) expect(namespaceOf(pidOf("web"), type)).not.toBe(namespaceOf(pidOf("db"), type));
    expect(out.lines()).toEqual(["started", "word"]);
    const [web, db] = [pidOf("web"), pidOf("db")];
    process.kill(db, "SIGKILL");
    await until(() => out.lines().filter((line) => line === "started").length === 2);
    expect(pidOf("web")).toBe(web);
    expect((await scene.ctl("-g", "p", "restart", "db")).status).toBe(0);
    await until(() => pidOf("web") !== web && pidOf("web") > 0);
    expect(namespaceOf(pidOf("web"), "pid")).toBe(namespaceOf(pidOf("db"), "pid"));
    expect((await scene.ctl("delete", "-f", file, "-p", "p")).status).toBe(0);
    await until(() => scene.list().length === 0);
  });

  test("a service whose namespaces another one uses is stopped: that one says what it needs", async () => {
    await scene.daemon();
    const file = project({ db: service(SLEEP), web: service(SLEEP, { ipc: "service:db", restart: "always" }) });
    expect((await scene.ctl("apply", "-f", file, "-p", "p", "--wait")).status).toBe(0);
    expect((await scene.ctl("-g", "p", "stop", "db")).status).toBe(0);
    process.kill(pidOf("web"), "SIGKILL");
    await until(async () => /task db, whose namespaces it uses, does not run|waits for db/.test(JSON.stringify(await taskOf("web"))));
    expect((await scene.ctl("delete", "-f", file, "-p", "p")).status).toBe(0);
  });

  test("hooks of a service run one after the other, as their users, in their directories, with their variables", async () => {
    await scene.daemon();
    const out = sharedIn(scene, "hooks");
    const hook = (word: string, fields: object = {}) => ({
      command: script(`echo "${word} $(id -u) $(pwd) $WORD" >> /out/lines`),
      ...fields,
    });
    const file = project({
      web: service(SLEEP, {
        volumes: ["./shared-hooks:/out"],
        post_start: [hook("one", { user: "1:0", working_dir: "/bin", environment: { WORD: "given" } }), hook("two")],
        pre_stop: [hook("three", { environment: ["WORD=last"] }), { command: "false" }, hook("never")],
      }),
    });
    const lines = join(scene.directory, "shared-hooks/lines");
    mkdirSync(join(scene.directory, "shared-hooks"), { recursive: true });
    writeFileSync(lines, "");
    chmodSync(lines, 0o666);
    expect((await scene.ctl("apply", "-f", file, "-p", "p", "--wait")).status).toBe(0);
    expect(out.lines()).toEqual(["one 1 /bin given", "two 0 /"]);
    expect((await scene.ctl("delete", "-f", file, "-p", "p")).status).toBe(0);
    await until(() => out.lines().length === 3);
    expect(out.lines()[2]).toBe("three 0 / last");
  });

  test("cgroup_parent is a cgroup above that of the service, which goes with the last service, and with cgroup: host the service sees it", async () => {
    await scene.daemon();
    const both = {
      web: service(`cat /proc/self/cgroup; ${SLEEP}`, { cgroup_parent: "shop", cgroup: "host" }),
      own: service(`cat /proc/self/cgroup; ${SLEEP}`),
    };
    const inside = project({ ...both, web: { ...both.web, cgroup_parent: `${CGROUP_PARENT}/effects` } });
    const refused = await scene.ctl("apply", "-f", inside, "-p", "p");
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/services\/web\/cgroup_parent: .* is in the cgroup of the engine/),
    ]);
    const file = project(both);
    expect((await scene.ctl("apply", "-f", file, "-p", "p", "--wait")).status).toBe(0);
    const seen = async (name: string) => (await scene.ctl("-g", "p", "logs", name)).stdout;
    expect(await seen("web")).toMatch(/\/parents\/shop\/p\.web\./);
    expect(await seen("own")).toMatch(/:memory:\/$|^0::\/$/m);
    const places = readFileSync(`/proc/${pidOf("web")}/cgroup`, "utf8")
      .split("\n")
      .filter((line) => line.includes("/parents/shop/"));
    expect(places.length).toBeGreaterThan(0);
    expect((await scene.ctl("delete", "-f", file, "-p", "p")).status).toBe(0);
  });

  test("a part of a volume is what is mounted, and is made in one that does not have it", async () => {
    await scene.daemon();
    const part = (subpath: string) => [{ type: "volume", source: "data", target: "/d", volume: { subpath } }];
    const file = project(
      {
        whole: service("cat /d/a/b/word; ls /d", {
          volumes: ["data:/d"],
          depends_on: { part: { condition: "service_completed_successfully" } },
        }),
        part: service("echo word > /d/word", { volumes: part("a/b") }),
      },
      { volumes: { data: {} } },
    );
    expect((await scene.ctl("apply", "-f", file, "-p", "p", "--wait")).status).toBe(0);
    await until(async () => (await taskOf("whole")).known === "STOPPED");
    expect((await scene.ctl("-g", "p", "logs", "whole")).stdout).toBe("word\na\n");
    expect((await scene.ctl("delete", "-f", file, "-p", "p", "--volumes")).status).toBe(0);
  });
});
