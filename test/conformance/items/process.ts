import { chmodSync, closeSync, copyFileSync, existsSync, mkdirSync, openSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import { waitFor } from "../container.ts";
import { group } from "../group.ts";
import { stringsOf } from "../observe.ts";
import { home } from "./process-home.ts";
import { standardStreams } from "./process-streams.ts";

/** Change the process object. */
const process = (fields: object) => (config: Config) => void Object.assign(config.process, fields);

export const processGroup = group("PRO", "process", (levels) => {
  const { must, should } = levels;
  must(1, "process may be left out for create", async (c) => {
    const container = await c.create((config) => Reflect.deleteProperty(config, "process"));
    assert.equal((await container.state()).status, "created");
    assert.ok(existsSync(`/proc/${await container.pid()}`));
  });
  must(2, "start fails if no process was given", async (c) => {
    const container = await c.create((config) => Reflect.deleteProperty(config, "process"));
    assert.notEqual((await c.call(["start", container.id])).status, 0);
  });
  standardStreams(levels);
  home(levels);
  must(7, "cwd is required, and absolute", async (c) => {
    await c.refused((config) => Reflect.deleteProperty(config.process, "cwd"), "/process/cwd");
    for (const cwd of ["", "tmp", "./tmp", "../tmp"]) await c.refused(process({ cwd }), "/process/cwd");
  });
  must(8, "the program starts in cwd", async (c) => {
    for (const cwd of ["/", "/home/user"]) {
      const container = await c.start(process({ cwd }));
      assert.equal(readlinkSync(`/proc/${await container.pid()}/cwd`), cwd);
    }
    assert.equal(await c.output(["/bin/pwd"], process({ cwd: "/etc" })), "/etc\n");
  });
  should(
    9,
    "a cwd that is missing is made, or the error names it",
    async (c) => {
      const rootfs = c.rootfs();
      const cwd = "/made/for/the/program";
      const change = (config: Config) => {
        config.root = { path: rootfs };
        config.process.cwd = cwd;
      };
      const { status, stdout, stderr } = await c.run("pwd", change);
      if (c.isRunt || status === 0) assert.equal(stdout, `${cwd}\n`);
      else assert.ok(stderr.includes(cwd));
    },
    { note: "it is made, with mode 0755, as by runc and crun" },
  );
  should(10, "a cwd that leads out of the root filesystem is refused", async (c) => {
    const rootfs = c.rootfs();
    const fds = [1, 2, 3].map(() => openSync("/", "r"));
    c.cleanup(() => fds.forEach(closeSync));
    symlinkSync("/proc/self/fd/3", join(rootfs, "way-out"));
    const outside = async (cwd: string, flags: readonly string[]) => {
      const container = c.container(
        c.bundle((config) => {
          config.root.path = rootfs;
          Object.assign(config.process, { cwd, args: ["/bin/ls", "/proc/self/cwd/"] });
        }),
      );
      return c.call(["run", "--bundle", container.bundle, ...flags, container.id], { extra: fds });
    };
    // The caller's descriptors, those that a runtime may have open itself, and a link to one.
    for (const cwd of [...[3, 4, 5, 6, 7, 8, 9].map((fd) => `/proc/self/fd/${fd}`), "/way-out"])
      assert.notEqual((await outside(cwd, [])).status, 0, cwd);
    assert.notEqual((await outside("/proc/self/fd/3", ["--preserve-fds", "1"])).status, 0, "a preserved descriptor");
    assert.equal((await outside("/etc", ["--preserve-fds", "1"])).status, 0);
  });
  must(11, "env is passed unchanged, without variables of the runtime", async (c) => {
    const env = [
      "PATH=/bin:/usr/bin",
      "EMPTY=",
      "EQUALS=a=b==c",
      "SPACES= two  words ",
      "LINES=one\ntwo",
      "UNICODE=\u00e4\u20ac",
      "HOME=/here",
    ];
    const given = await c.start(process({ env }), { env: { LEAK: "1", RUNT_LEAK: "1" } });
    assert.deepEqual(stringsOf(await given.pid(), "environ"), env);
    // Without HOME all runtimes look it up; engines count on it.
    for (const nothing of [{ env: ["A=1"] }, { env: [] }]) {
      const container = await c.start(process({ ...nothing, args: ["/bin/sleep", "60"] }), { env: { LEAK: "1", HOME: "/of/the/caller" } });
      const found = stringsOf(await container.pid(), "environ");
      assert.deepEqual(
        found.filter((entry) => !entry.startsWith("HOME=")),
        nothing.env,
      );
      assert.deepEqual(
        found.filter((entry) => entry.startsWith("HOME=")),
        ["HOME=/root"],
      );
    }
    const user = await c.start(process({ env: [], args: ["/bin/sleep", "60"], user: { uid: 1000, gid: 1000 } }));
    assert.deepEqual(stringsOf(await user.pid(), "environ"), ["HOME=/home/user"]);
  });
  should(12, "if env has several entries with one name, the last one counts, with a warning", async (c) => {
    const change = process({ env: ["A=1", "PATH=/bin", "A=2", "B=1", "A=3"], args: ["/bin/sleep", "60"] });
    const container = await c.start(change);
    const entries = stringsOf(await container.pid(), "environ").filter((entry) => entry.startsWith("A="));
    assert.deepEqual(entries, ["A=3"]);
    if (c.isRunt) await c.warned(change, /"A"/);
  });
  must(13, "args names a program, which is searched in the container's PATH, as execvp does", async (c) => {
    const rootfs = c.rootfs();
    for (const directory of ["first", "second", "third"]) mkdirSync(join(rootfs, directory));
    const script = (directory: string, name: string, mode: number) => {
      writeFileSync(join(rootfs, directory, name), `#!/bin/sh\necho ${directory}\n`);
      chmodSync(join(rootfs, directory, name), mode);
    };
    script("first", "tool", 0o644);
    script("second", "tool", 0o755);
    script("third", "tool", 0o755);
    script("third", "other", 0o755);
    const change = (args: readonly string[], path: string, cwd = "/") =>
      c.run(args, (config) => {
        config.root.path = rootfs;
        Object.assign(config.process, { env: [`PATH=${path}`], cwd });
      });
    assert.equal((await change(["tool"], "/none:/first:/second:/third")).stdout, "second\n");
    assert.equal((await change(["tool"], "/third:/second")).stdout, "third\n");
    assert.equal((await change(["./tool"], "/third", "/second")).stdout, "second\n");
    assert.equal((await change(["second/tool"], "/third")).stdout, "second\n");
    assert.notEqual((await change(["other"], "/first:/second")).status, 0);
    await c.refused((config) => Reflect.deleteProperty(config.process, "args"), "/process/args");
    await c.refused(process({ args: [] }), "/process/args");
    await c.refused(process({ args: [""] }), "/process/args/0");
  });
  must(14, "create does not run the program, start does", async (c) => {
    const shared = c.scratch();
    const container = await c.create((config) => {
      config.mounts.push({ destination: "/mnt", type: "bind", source: shared, options: ["bind"] });
      config.process.args = ["/bin/sh", "-c", "touch /mnt/marker; sleep 60"];
    });
    const pid = await container.pid();
    assert.ok(!stringsOf(pid, "cmdline").includes("touch /mnt/marker; sleep 60"));
    assert.ok(!existsSync(join(shared, "marker")));
    await container.start();
    await waitFor(() => existsSync(join(shared, "marker")), "the marker");
  });
  should(15, "a program that is missing or not executable is an error of create that names it", async (c) => {
    const rootfs = c.rootfs();
    writeFileSync(join(rootfs, "data"), "");
    copyFileSync(join(rootfs, "bin/busybox"), join(rootfs, "locked"));
    chmodSync(join(rootfs, "locked"), 0o644);
    for (const program of ["/no/such/program", "no-such-program", "/data", "/locked", "/etc"]) {
      const { stderr } = await c.refused((config) => {
        config.root.path = rootfs;
        config.process.args = [program, "argument"];
      }, "/process/args/0");
      assert.ok(stderr.includes(program), stderr);
    }
  });
  should(16, "commandLine is for Windows and changes nothing", async (c) => {
    assert.equal(await c.output(["/bin/echo", "args"], process({ commandLine: "/bin/echo commandLine" })), "args\n");
  });
  must(17, "noNewPrivileges sets the flag before the program runs", async (c) => {
    const container = await c.start(process({ noNewPrivileges: true }));
    assert.equal((await container.status()).get("NoNewPrivs"), "1");
  });
  must(18, "without noNewPrivileges the flag stays unset", async (c) => {
    for (const noNewPrivileges of [false, undefined]) {
      const container = await c.start(process({ noNewPrivileges }));
      assert.equal((await container.status()).get("NoNewPrivs"), "0");
    }
  });
  should(25, "an empty program name gives the error that engines treat as a missing program", async (c) => {
    const { stderr } = await c.refused(process({ args: [""] }), "/process/args/0");
    assert.ok(stderr.includes('exec: "": executable file not found in $PATH'), stderr);
  });
});
