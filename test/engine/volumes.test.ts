/** Mounts and volumes, as the kernel mounts them; and what the daemon does not follow. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { allPrinted } from "../support/log-file.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { type ContainerText, SLEEP, taskText } from "./tasks.ts";

describe.skipIf(!isRoot)("mounts and volumes (needs root)", () => {
  const scene = useEngine();
  const task = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text);
  const apply = async (containers: readonly ContainerText[], fields: Readonly<Record<string, unknown>> = {}) =>
    http(scene.socket, "POST", "/v1/apply", { text: taskText(scene.rootfs(), "t", containers, fields) });
  const logOf = async (name: string): Promise<string> => {
    const { log } = (await task()).containers.find((one: { name: string }) => one.name === name);
    return allPrinted(log);
  };
  const pidOf = (name: string) => scene.list().find(({ id, status }) => id.includes(`.${name}-`) && status === "running")!.pid;
  const hostDirectory = (name: string) => {
    const path = join(scene.directory, name);
    mkdirSync(path, { recursive: true });
    return path;
  };

  test("mounts that are made on the host later come to a container that asks for them, and to no other one", async () => {
    await scene.daemon();
    const shared = hostDirectory("passed-on");
    execFileSync("mount", ["-t", "tmpfs", "none", shared]);
    try {
      execFileSync("mount", ["--make-shared", shared]);
      mkdirSync(join(shared, "later"));
      const script = `until [ -e /m/go ]; do sleep 0.05; done; cat /m/later/file || echo nothing; echo end; ${SLEEP}`;
      const mounts = (propagation?: string) => [{ source: shared, target: "/m", ...(propagation === undefined ? {} : { propagation }) }];
      const containers = [
        { name: "slave", script, fields: { mounts: mounts("rslave") } },
        { name: "private", script, fields: { mounts: mounts() } },
      ];
      await apply(containers);
      await until(() => scene.list().filter(({ status }) => status === "running").length === 2);
      execFileSync("mount", ["-t", "tmpfs", "none", join(shared, "later")]);
      writeFileSync(join(shared, "later/file"), "mounted\n");
      writeFileSync(join(shared, "go"), "");
      await until(async () => (await logOf("slave")).includes("end\n") && (await logOf("private")).includes("end\n"));
      expect(await logOf("slave")).toContain("mounted\n");
      expect(await logOf("private")).toContain("nothing\n");
    } finally {
      execFileSync("umount", ["-R", "-l", shared]);
    }
  });

  test("a scratch volume has the owner and mode that the task says, in memory and on disk, and a restart changes nothing", async () => {
    await scene.daemon();
    const rights = { user: 1234, group: 56, mode: 0o1700 };
    const mounts = ["memory", "disk"].map((volume) => ({ volume, target: `/${volume}` }));
    const look = "stat -c '%a %u %g' /memory /disk; touch /memory/a /disk/a && echo written";
    const containers = ["1234", "1235"].map((user) => ({ name: `of-${user}`, script: `${look}; ${SLEEP}`, fields: { mounts, user } }));
    await apply(containers, {
      volumes: [
        { name: "memory", medium: "memory", size: "1Mi", ...rights },
        { name: "disk", ...rights },
      ],
    });
    const lines = ["1700 1234 56", "1700 1234 56"];
    await until(async () => /written/.test(await logOf("of-1234")) && /Permission denied/.test(await logOf("of-1235")));
    expect((await logOf("of-1234")).trim().split("\n")).toEqual([...lines, "written"]);
    expect((await logOf("of-1235")).trim().split("\n").slice(0, 2)).toEqual(lines);
    const idOf = async () => (await task()).containers.find((one: { name: string }) => one.name === "of-1234").id;
    const before = await idOf();
    await scene.ctl("restart", "t");
    await until(async () => (await idOf()) !== before && /written/.test(await logOf("of-1234")));
    expect((await logOf("of-1234")).trim().split("\n")).toEqual([...lines, "written"]);
  });

  test("a scratch volume is one for the containers of the task, also for a user without rights, and goes with the task", async () => {
    await scene.daemon();
    const mounts = [{ volume: "scratch", target: "/data" }];
    await apply(
      [
        {
          name: "writer",
          script: `echo hello > /data/file; mkdir -p /data/a/b; ln -s /etc /data/link; ${SLEEP}`,
          fields: { mounts, user: "1234" },
        },
        {
          name: "reader",
          script: `until [ -d /data/a/b ]; do sleep 0.05; done; cat /data/file; stat -c %u /data/file; touch /data/x 2>/dev/null || echo read-only; ${SLEEP}`,
          fields: { mounts: [{ ...mounts[0], readOnly: true }] },
        },
      ],
      { volumes: [{ name: "scratch" }] },
    );
    await until(async () => /read-only/.test(await logOf("reader")));
    expect(await logOf("reader")).toBe("hello\n1234\nread-only\n");
    expect(readFileSync(`/proc/${pidOf("writer")}/mountinfo`, "utf8")).toMatch(/ \/data rw,nosuid,nodev/);
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    await until(() => !existsSync(join(scene.stateDir, "volumes")) || execFileSync("ls", [join(scene.stateDir, "volumes")]).length === 0);
    expect(existsSync("/etc/passwd")).toBe(true);
  });

  test("what is missing on the host is named by its path, and by no path of the daemon's own", async () => {
    await scene.daemon();
    const data = `${scene.directory}/data`;
    await apply([{ name: "a", fields: { mounts: [{ source: data, target: "/data" }] } }]);
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toContain(`${data} is not there`);
    expect((await task()).reason).not.toContain("/proc/");
    expect((await scene.ctl("delete", "t")).status).toBe(0);
  });

  test("a directory and a file of the host; read-only means all that is mounted below, too", async () => {
    await scene.daemon();
    const directory = hostDirectory("host");
    writeFileSync(join(directory, "file"), "of the host\n");
    const file = join(scene.directory, "single");
    writeFileSync(file, "single\n");
    const script = `cat /host/file /single; echo new > /host/written; echo x > /volume/y || echo refused; ${SLEEP}`;
    const mounts = [
      { source: directory, target: "/host" },
      { source: file, target: "/single", readOnly: true },
      { volume: "v", target: "/volume", readOnly: true },
    ];
    await apply([{ name: "a", script, fields: { mounts } }], { volumes: [{ name: "v", host: directory }] });
    await until(async () => /refused/.test(await logOf("a")));
    expect(await logOf("a")).toMatch(/^of the host\nsingle\n/);
    expect(readFileSync(join(directory, "written"), "utf8")).toBe("new\n");
  });

  test(
    "a part of the way that is exchanged for a link at any moment: what was checked is mounted, or nothing",
    async () => {
      await scene.daemon();
      const place = hostDirectory("exchanged");
      for (const path of ["way/x", "secret/x"]) mkdirSync(join(place, path), { recursive: true });
      writeFileSync(join(place, "way/x/file"), "harmless\n");
      writeFileSync(join(place, "secret/x/file"), "secret\n");
      symlinkSync(join(place, "secret"), join(place, "link"));
      // For up to 2 ms the way is what it was, or not even a processor of its own would ever let a task find it whole.
      const swap = `import os, random, time\nwhile True:\n  for pair in (("way","z"),("link","way"),("way","link"),("z","way")): os.rename(*("${place}/"+one for one in pair))\n  time.sleep(random.random()/500)`;
      const attacker = spawn("python3", ["-c", swap], { stdio: "ignore" });
      const printed = new Set<string>();
      try {
        for (let round = 0; round < 30; round++) {
          // With the type File or subPath the way is the same one.
          const mounts = [
            [{ volume: "v", target: "/data" }],
            [{ source: join(place, "way/x"), target: "/data" }],
            [{ volume: "above", subPath: "way/x", target: "/data" }],
          ][round % 3]!;
          const volumes = [
            { name: "v", host: join(place, "way/x"), hostType: "Directory" },
            { name: "above", host: place },
          ];
          await apply([{ name: "a", script: "cat /data/file", fields: { mounts } }], { volumes });
          await until(async () => (await task()).known === "STOPPED");
          const { log } = (await task()).containers[0];
          printed.add(existsSync(log) ? allPrinted(log) : "");
          expect((await scene.ctl("delete", "t")).status).toBe(0);
        }
      } finally {
        const ended = new Promise((resolve) => attacker.once("exit", resolve));
        attacker.kill("SIGKILL");
        await ended;
      }
      expect([...printed]).not.toContain("secret\n");
      expect([...printed]).toContain("harmless\n");
    },
    LONGEST_MS,
  );

  test("a source that is missing: the task stops before anything is made, and names it", async () => {
    await scene.daemon();
    await apply([{ name: "a", fields: { mounts: [{ source: join(scene.directory, "none/such"), target: "/x" }] } }]);
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toContain(`${scene.directory}/none is not there`);
    expect(scene.list()).toEqual([]);
  });

  test("a link that a container has planted in a directory of the host does not lead the next one to the host's files", async () => {
    await scene.daemon();
    const shared = hostDirectory("planted");
    await apply([
      {
        name: "attacker",
        script: "rm -rf /shared/data; ln -s /etc /shared/data; echo planted",
        fields: { essential: false, mounts: [{ source: shared, target: "/shared" }] },
      },
      {
        name: "victim",
        script: `cat /data/passwd; ${SLEEP}`,
        fields: {
          dependsOn: [{ container: "attacker", condition: "SUCCESS" }],
          mounts: [{ source: join(shared, "data"), target: "/data" }],
        },
      },
    ]);
    // The victim's source is looked at before it is made: where the link is not there yet, it is missing.
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toMatch(new RegExp(`${shared}/data (is a symbolic link|is not there)`));
    expect(await logOf("victim")).toBe("");
  });

  test("a link of the system is followed, as /var/run and /etc/localtime are, and the container gets what it led to", async () => {
    await scene.daemon();
    const real = hostDirectory("led-to");
    writeFileSync(join(real, "file"), "led to\n");
    // As in /etc, only root makes entries in /run. Everybody does in /tmp, where the directories of tests are.
    const link = `/run/runt-link-${process.pid}`;
    symlinkSync(real, link);
    try {
      const mounts = [
        { source: join(link, "file"), target: "/file", readOnly: true },
        { source: link, target: "/whole" },
        { source: "/etc/localtime", target: "/zone", readOnly: true },
      ].filter(({ source }) => existsSync(source));
      await apply([{ name: "a", script: `cat /file /whole/file; ${SLEEP}`, fields: { mounts } }]);
      await until(async () => ["RUNNING", "STOPPED"].includes((await task()).known));
      expect((await task()).reason ?? "").toBe("");
      await until(async () => (await logOf("a")) === "led to\nled to\n");
    } finally {
      rmSync(link);
    }
  });

  test("a link is refused with the path to write instead", async () => {
    await scene.daemon();
    const real = hostDirectory("real");
    const link = join(scene.directory, "link");
    if (!existsSync(link)) symlinkSync(real, link);
    await apply([{ name: "a", fields: { mounts: [{ source: link, target: "/x" }] } }]);
    await until(async () => (await task()).known === "STOPPED");
    expect((await task()).reason).toContain(`${link} is a symbolic link (${link} leads to ${real}): it is not followed`);
  });

  test("a volume of another file system is mounted for each task of its own, by another daemon found again, and goes with the task", async () => {
    const image = join(scene.directory, "disk.img");
    execFileSync("truncate", ["--size", "4M", image]);
    execFileSync("mke2fs", ["-q", "-F", "-t", "ext4", image], { env: { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` } });
    const device = execFileSync("losetup", ["--find", "--show", image], { encoding: "utf8" }).trim();
    const mounted = () =>
      readFileSync("/proc/self/mountinfo", "utf8")
        .split("\n")
        .filter((line) => line.includes(scene.stateDir) && line.includes(device));
    try {
      const daemon = await scene.daemon();
      const service = (name: string, script: string, mount: string) =>
        `  ${name}: { x-runt-rootfs: ${scene.rootfs()}, network_mode: none, command: [/bin/sh, -c, '${script}'], volumes: ['${mount}'], stop_grace_period: 0s }\n`;
      const reads = "until cat /data/file; do sleep 0.05; done; touch /data/x 2>/dev/null || echo refused; sleep 1000";
      const volume = (options: string) => `volumes: { data: { driver_opts: ${options} } }\n`;
      const both = service("one", "echo hello > /data/file; sleep 1000", "data:/data") + service("two", reads, "data:/data:ro");
      const text = `services:\n${both}${volume(`{ type: ext4, device: ${device}, o: noatime }`)}`;
      const file = scene.file("compose.yaml", text);
      expect(await scene.ctl("apply", "-p", "shop", "-f", file)).toMatchObject({ status: 0, stderr: "" });
      await until(async () => /refused/.test((await scene.ctl("-g", "shop", "logs", "two")).stdout));
      expect((await scene.ctl("-g", "shop", "logs", "two")).stdout).toContain("hello\nrefused");
      expect(mounted()).toHaveLength(2);
      expect(mounted()[0]).toContain("rw,noatime");
      await daemon.kill();
      await scene.daemon();
      expect((await scene.ctl("delete", "-p", "shop")).status).toBe(0);
      await until(() => mounted().length === 0);

      const alone = (options: string) =>
        scene.file("alone.yaml", `services:\n${service("one", "sleep 1000", "data:/data")}${volume(options)}`);
      const reasonOf = async (options: string) => {
        await scene.ctl("apply", "-p", "shop", "-f", alone(options));
        const told = async () => (await scene.ctl("-g", "shop", "describe", "one")).stdout;
        await until(async () => /STOPPED/.test(await told()));
        const text = await told();
        await scene.ctl("delete", "-p", "shop");
        return text;
      };
      expect(await reasonOf("{ type: nofs, device: ':/srv' }")).toContain(
        ":/srv: the kernel has no file system nofs: its module is in the package",
      );
      expect(await reasonOf("{ type: nfs, o: addr=nas.invalid, device: ':/srv' }")).toContain("the server nas.invalid has no address");
    } finally {
      await until(() => mounted().length === 0).finally(() => execFileSync("losetup", ["--detach", device]));
    }
  });

  test("a scratch volume that a container has made hard to remove is removed", async () => {
    await scene.daemon();
    const script = [
      "cd /data",
      "n=$(printf '%0200d' 0); i=0; while [ $i -lt 40 ]; do mkdir $n && cd $n; i=$((i+1)); done",
      "touch \"$(printf '\\377\\376')\"; chmod 000 . ; echo ready",
      SLEEP,
    ].join("; ");
    await apply([{ name: "a", script, fields: { mounts: [{ volume: "v", target: "/data" }] } }], { volumes: [{ name: "v" }] });
    await until(async () => /ready/.test(await logOf("a")));
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    expect((await scene.ctl("get", "t")).stderr).toContain("there is no task t");
    expect(execFileSync("find", [scene.stateDir, "-path", "*volumes/*"], { encoding: "utf8" })).toBe("");
  });
});
