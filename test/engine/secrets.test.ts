/** Secrets and files of variables: a container has them, and nothing that stays. */
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const SECRETS = ["b1ue-parr0t-91", "gr3en-wh4le-17"] as const;

describe.skipIf(!isRoot)("secrets and env files (needs root)", () => {
  const scene = useEngine();
  const task = async (name = "t") => JSON.parse((await http(scene.socket, "GET", `/v1/tasks/${name}`)).text);
  const apply = (container: object, fields: object = {}, name = "t") => {
    const main = { name: "c0", rootfs: scene.rootfs(), command: "/bin/sh", stopSignal: "SIGKILL", ...container };
    return http(scene.socket, "POST", "/v1/apply", { text: JSON.stringify({ name, ...fields, containers: [main] }) });
  };
  const stopped = async (name = "t") => {
    await until(async () => (await task(name)).known === "STOPPED");
    return task(name);
  };
  const said = async () => {
    const { containers } = await task();
    if (!existsSync(containers[0].log)) return [];
    return readFileSync(containers[0].log, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" ").slice(3).join(" "));
  };
  const mounts = () =>
    readFileSync("/proc/self/mountinfo", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${scene.stateDir}/secrets/`));
  const kept = (directory: string): string =>
    readdirSync(directory, { withFileTypes: true })
      .map((entry) => {
        const path = join(directory, entry.name);
        if (["secrets", "executors-in-memory"].some((one) => path === join(scene.stateDir, one))) return "";
        return entry.isDirectory() ? kept(path) : entry.isFile() ? readFileSync(path, "latin1") : "";
      })
      .join("\n");
  const program = (name: string, script: string) => {
    const path = scene.file(name, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };

  test("E55: secrets from a file and from a program are files in memory; no stored or printed text has them", async () => {
    const daemon = await scene.daemon();
    const file = scene.file("password", SECRETS[0]);
    const show = program("show", `echo ${SECRETS[1]} >&2; printf %s ${SECRETS[1]}`);
    const secrets = [
      { name: "file", file },
      { name: "program", exec: [show, "argument"] },
    ];
    const script = `stat -c '%a %u %s' /etc/one /two; grep -c parr0t /etc/one; grep -c wh4le /two; echo x > /two || echo refused; grep ' /two ' /proc/mounts; ${SLEEP}`;
    await apply(
      {
        args: ["-c", script],
        secrets: [
          { secret: "file", target: "/etc/one" },
          { secret: "program", target: "/two", mode: 0o440, uid: 1000 },
        ],
      },
      { secrets },
    );
    await until(async () => (await task()).known === "STOPPED" || (await said()).some((line) => line.startsWith("tmpfs")));
    const lines = await said();
    expect(lines.slice(0, 4)).toEqual([`400 0 ${SECRETS[0].length}`, `440 1000 ${SECRETS[1].length}`, "1", "1"]);
    expect(lines).toContain("refused");
    // What goes to stderr may come behind it.
    expect(lines.find((line) => line.startsWith("tmpfs"))).toMatch(/^tmpfs \/two tmpfs ro,nosuid,nodev,noexec/);
    expect(mounts()).toHaveLength(1);
    const answers = [
      ...(await Promise.all(["", "/detail"].map((part) => http(scene.socket, "GET", `/v1/tasks/t${part}`)))),
      await http(scene.socket, "GET", "/v1/metrics"),
    ].map(({ text }) => text);
    const all = [kept(scene.stateDir), daemon.log(), ...answers, (await scene.ctl("events")).stdout].join("\n");
    expect(all).toContain(file);
    for (const secret of SECRETS) expect(all).not.toContain(secret);
    // A new incarnation has what the source says then, and a daemon that is killed takes nothing away.
    writeFileSync(file, "changed");
    await daemon.kill();
    await scene.daemon();
    expect(mounts()).toHaveLength(1);
    await scene.ctl("restart", "t");
    await until(async () => (await task()).containers[0].generation === 2 && (await said()).some((line) => line.startsWith("tmpfs")));
    expect((await said())[0]).toBe("400 0 7");
    await until(() => mounts().length === 1);
    await scene.ctl("delete", "t");
    expect(mounts()).toEqual([]);
    expect(readdirSync(join(scene.stateDir, "secrets"))).toEqual([]);
  });

  test("E55: a secret is a variable of the container and of further programs in it; it is written to memory only, for as long as the container exists", async () => {
    const first = await scene.daemon();
    const file = scene.file("password", SECRETS[0]);
    const inMemory = () => readFileSync("/proc/self/mountinfo", "utf8").includes(` ${scene.stateDir}/executors-in-memory `);
    const script = `[ "$PASSWORD" = ${SECRETS[0]
      .split("")
      .map((one) => `'${one}'`)
      .join("")} ] && echo same; ${SLEEP}`;
    const secrets = [{ name: "file", file }];
    await apply({ args: ["-c", script], env: { OTHER: "1" }, secrets: [{ secret: "file", env: "PASSWORD" }] }, { secrets });
    await until(async () => (await said()).length > 0);
    expect(await said()).toEqual(["same"]);
    expect(inMemory()).toBe(true);
    const { pid } = scene.list()[0]!;
    expect(readFileSync(`/proc/${pid}/environ`, "utf8").split("\0")).toContain(`PASSWORD=${SECRETS[0]}`);
    const memory = join(scene.stateDir, "executors-in-memory");
    const modeOf = () => (statSync(memory).mode & 0o7777).toString(8);
    expect(modeOf()).toBe("700");
    // A new daemon finds it, and a further program has what the container has. An earlier version has left the directory open to everybody.
    await first.kill();
    chmodSync(memory, 0o1777);
    const elsewhere = scene.file("elsewhere", "mine");
    symlinkSync(elsewhere, join(memory, "default.other.9.main-00000000.1"));
    mkdirSync(join(memory, "squatted"));
    for (const name of ["default.other.9.main-00000000.1", "squatted"]) lchownSync(join(memory, name), 65534, 65534);
    const second = await scene.daemon();
    expect(modeOf()).toBe("700");
    expect(readdirSync(memory).filter((name) => lstatSync(join(memory, name)).uid !== 0)).toEqual([]);
    expect(readFileSync(elsewhere, "utf8")).toBe("mine");
    expect(second.log()).toContain("foreign-entries-removed");
    const exec = await scene.ctl("exec", "t", "--", "/bin/sh", "-c", "printf %s $PASSWORD | wc -c");
    expect([exec.stderr, exec.stdout]).toEqual(["", `${SECRETS[0].length}\n`]);
    const answers = await Promise.all(["", "/detail"].map((part) => http(scene.socket, "GET", `/v1/tasks/t${part}`)));
    const all = [
      kept(scene.stateDir),
      first.log(),
      second.log(),
      ...answers.map(({ text }) => text),
      (await scene.ctl("events")).stdout,
    ].join("\n");
    expect(all).toContain(file);
    expect(all).not.toContain(SECRETS[0]);
    await scene.ctl("delete", "t");
    await until(() => !inMemory());
    expect(readdirSync(join(scene.stateDir, "executors")).filter((name) => !name.startsWith("@"))).toEqual([]);
    const binary = scene.file("binary", "");
    writeFileSync(binary, Buffer.from([0xff, 0xfe]));
    await apply({ args: ["-c", SLEEP], secrets: [{ secret: "file", env: "X" }] }, { secrets: [{ name: "file", file: binary }] }, "bytes");
    expect((await stopped("bytes")).reason).toMatch(/secret file: it is no text, and cannot be a variable/);
    expect(inMemory()).toBe(false);
    const twice = await apply({ env: { X: "1" }, secrets: [{ secret: "file", env: "X" }] }, { secrets }, "twice");
    expect(twice).toMatchObject({ status: 422, text: expect.stringContaining("something else is the variable X, too") });
  });

  test("E55: a secret that cannot be read ends the task before its container is made; the reason names it without its value", async () => {
    await scene.daemon();
    const cases = [
      [{ file: "/nowhere/secret" }, /secret s: ENOENT.*\/nowhere\/secret/],
      [{ file: "/proc/1" }, /secret s: .*is no regular file/],
      [{ exec: [program("fails", `echo ${SECRETS[0]}; echo ${SECRETS[0]} >&2; exit 3`)] }, /secret s: .*fails has failed \(3\)$/],
      [{ exec: ["/nowhere/program"] }, /secret s: \/nowhere\/program could not be started/],
    ] as const;
    for (const [at, [source, reason]] of cases.entries()) {
      await apply({ args: ["-c", SLEEP], secrets: [{ secret: "s", target: "/s" }] }, { secrets: [{ name: "s", ...source }] }, `t${at}`);
      const { containers } = await stopped(`t${at}`);
      expect(containers[0]).toMatchObject({ exit: null, startedMs: null });
      expect(containers[0].reason).toMatch(reason);
      expect(containers[0].reason).not.toContain(SECRETS[0]);
    }
    expect(mounts()).toEqual([]);
    const hung = program("hangs", `echo $$ > ${scene.directory}/hangs.pid; exec sleep 300`);
    await apply({ args: ["-c", SLEEP], secrets: [{ secret: "s", target: "/s" }] }, { secrets: [{ name: "s", exec: [hung] }] }, "hung");
    await until(() => existsSync(`${scene.directory}/hangs.pid`) && readFileSync(`${scene.directory}/hangs.pid`, "utf8") !== "");
    await scene.ctl("stop", "hung");
    await until(() => !existsSync(`/proc/${readFileSync(`${scene.directory}/hangs.pid`, "utf8").trim()}`));
    const refused = await apply({ args: ["-c", SLEEP], secrets: [{ secret: "none", target: "/s" }] }, {}, "none");
    expect(refused).toMatchObject({ status: 422, text: expect.stringContaining("the task has no secret none") });
  });

  test("E57: variables of later files replace those of earlier ones, and the task's own replace all; a file that cannot be read is named", async () => {
    await scene.daemon();
    const [first, second] = [scene.file("first.env", "A=1\nB=1\nC=1 # not of it\n"), scene.file("second.env", "B='2 $A'\nC=2\n")];
    await apply({ args: ["-c", 'echo "$A|$B|$C|$D"'], env: { C: "3", D: "4" }, envFiles: [first, second] });
    expect((await stopped()).reason).toMatch(/exited with 0$/);
    expect(await said()).toEqual(["1|2 $A|3|4"]);
    await apply({ args: ["-c", "true"], envFiles: ["/nowhere/x.env"] }, {}, "missing");
    expect((await stopped("missing")).reason).toMatch(/cannot read \/nowhere\/x\.env: ENOENT/);
    await apply({ args: ["-c", "true"], envFiles: [first, scene.file("bad.env", "A=1\nnonsense\n")] }, {}, "bad");
    expect((await stopped("bad")).reason).toMatch(/cannot read .*bad\.env: line 2 is not NAME=VALUE/);
  });
});
