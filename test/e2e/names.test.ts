/** runt under the names of others, and the log targets that come with them. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";
import { program } from "../support/programs.ts";

describe.skipIf(!isRunt)("other names", () => {
  const { bundle, directory, id, root, runtime, ok } = useHarness();
  const link = (name: string) => {
    const path = join(directory, name);
    if (!existsSync(path)) symlinkSync(RUNTIME, path);
    return path;
  };

  test("as runc, --version begins as runc's and still says whose it is", async () => {
    const [first, ...rest] = (await call(directory, [link("runc"), "--version"])).stdout.trim().split("\n");
    const own = (await ok(["--version"])).trim().split("\n");
    expect(own[0]).toMatch(/^runt version \d/);
    expect(first).toBe(own[0]!.replace("runt", "runc"));
    expect(rest).toEqual([...own.slice(1), "program: runt"]);
    expect(own).not.toContain("program: runt");
  });

  test.skipIf(!isRoot)("--version says +CRIU where criu works, and nothing of one that does not", async () => {
    const version = async (criu: string) => {
      const bin = join(directory, "criu-bin");
      rmSync(bin, { recursive: true, force: true });
      mkdirSync(bin);
      symlinkSync(criu, join(bin, "criu"));
      return runtime(["--version"], { env: { PATH: bin, FAKE_CRIU: bin, FAKE_FEATURES: "mem" } });
    };
    const [works, broken, absent] = [await version(program("fake-criu")), await version("/bin/ls"), await version("/nowhere")];
    expect(works).toEqual({ status: 0, stderr: "", stdout: `${absent.stdout}+CRIU\n` });
    for (const { status, stderr, stdout } of [broken, absent]) expect({ status, stderr, stdout }).toEqual({ ...absent, stderr: "" });
  });

  test.skipIf(!isRoot)("as runc, errors of create are where runc is when it meets them", async () => {
    const fails = async (change: (config: Config) => void, ...words: string[]) =>
      (await call(directory, [link("runc"), "--root", root, "create", ...words, "-b", bundle(change), id()])).stderr;
    const starting = 'level=error msg="runc create failed: unable to start container process: ';
    const hook = await fails((config) => Object.assign(config, { hooks: { createRuntime: [{ path: "/bin/false" }] } }));
    expect(hook).toContain(`${starting}error during container init: error running createRuntime hook #0: exit status 1`);
    const program = await fails((config) => Object.assign(config.process, { args: ["nowhere"] }));
    expect(program).toContain(`${starting}exec: \\"nowhere\\": executable file not found`);
    expect(await fails(() => {}, "--console-socket", "/nowhere")).toContain(
      "runc create failed: cannot use console socket if runc will not detach or allocate tty",
    );
  });

  test("as runc, errors of create and run begin as runc's, on stderr and in the log", async () => {
    const log = join(directory, "runc.json");
    const words = (verb: string) => `${verb} failed: bundle ${join(directory, "nowhere")}: no such file or directory`;
    const fails = async (program: string, ...args: string[]) => (await call(directory, [program, ...args])).stderr;
    for (const verb of ["create", "run"]) {
      const args = ["--log", log, "--log-format", "json", verb, "-b", join(directory, "nowhere"), "one"];
      expect(await fails(link("runc"), ...args)).toMatch(new RegExp(`^runc ${words(verb)}`));
      expect(await fails(RUNTIME, ...args)).not.toContain(`${verb} failed`);
      expect(JSON.parse(readFileSync(log, "utf8").split("\n")[0]!).msg).toContain(`runc ${words(verb)}`);
      rmSync(log);
    }
    for (const args of [["run"], ["state", "nobody"], ["exec", "nobody", "true"]])
      expect(await fails(link("runc"), ...args)).not.toContain("runc ");
  });

  test("as runc, stderr has the lines of the log where none is asked for, and the bare message beside one", async () => {
    const fails = async (program: string, ...words: string[]) => (await call(directory, [program, ...words, "state", "nobody"])).stderr;
    const message = "container does not exist: nobody";
    expect(await fails(link("runc"))).toMatch(new RegExp(`^time="[-0-9T:]+Z" level=error msg="${message}"\n$`));
    expect(await fails(link("runc"), "--log", join(directory, "beside.log"))).toBe(`${message}\n`);
    expect(await fails(RUNTIME)).toBe(`runt: ${message}\n`);
  });

  test.each(["crun", "my-runtime"])("as %s it says runt, and works", async (name) => {
    expect((await call(directory, [link(name), "--version"])).stdout).toBe(await ok(["--version"]));
    expect(JSON.parse((await call(directory, [link(name), "features"])).stdout)).toHaveProperty("ociVersionMax");
  });

  test("--log file:PATH is crun's way to name a file", async () => {
    const path = join(directory, "crun.log");
    await runtime([`--log=file:${path}`, "state", "nobody"]);
    expect(readFileSync(path, "utf8")).toContain("container does not exist: nobody");
  });

  test("--log syslog: is refused, and nothing is written", async () => {
    const result = await runtime(["--log=syslog:x", "state", "nobody"], { cwd: directory });
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("--log syslog:x: use a file or journald:NAME");
    expect(readdirSync(directory).filter((name) => name.startsWith("syslog:"))).toEqual([]);
  });

  describe.skipIf(!isRoot)("--log=journald:NAME, as conmon-rs calls crun", () => {
    /** The runtime where /run has nothing but a journal whose socket is `socket`. */
    const inside = (socket: string, args: readonly string[]) => {
      const prepare = `mount -t tmpfs none /run && mkdir -p /run/systemd/journal && ln -s ${socket} /run/systemd/journal/stdout && exec "$@"`;
      return call(directory, ["unshare", "-m", "sh", "-c", prepare, "sh", link("crun"), "--root", root, ...args], { cwd: directory });
    };

    test.each([
      ["text", [], "container does not exist: nobody"],
      ["json", ["--log-format=json"], '"msg":"container does not exist: nobody"'],
    ] as const)("the error goes to the journal (%s), and to stderr", async (_, flags, words) => {
      const socket = join(directory, `journal-${flags.length}`);
      const received = new Promise<string>((done) => {
        const server = createServer((connection) => {
          let text = "";
          connection.on("data", (data) => (text += data));
          connection.on("end", () => {
            server.close();
            done(text);
          });
        }).listen(socket);
      });
      await expect.poll(() => existsSync(socket)).toBe(true);
      const result = await inside(socket, ["--log=journald:box", "--log-level=info", ...flags, "state", "nobody"]);
      expect(result.status).toBe(1);
      expect(result.stderr).toContain("container does not exist: nobody");
      const lines = (await received).split("\n");
      expect(lines.slice(0, 7)).toEqual(["box", "", "3", "0", "0", "0", "0"]);
      expect(lines[7]).toContain(words);
      expect(lines.slice(8)).toEqual([""]);
      expect(existsSync(join(directory, "journald:box"))).toBe(false);
    });

    test("without a journal the error is told on stderr, with why it was not recorded", async () => {
      const { status, stderr } = await inside("/nowhere", ["--log=journald:box", "state", "nobody"]);
      expect(status).toBe(1);
      expect(stderr).toContain("runt: container does not exist: nobody\n");
      expect(stderr).toContain("cannot write to the journal as box: no such file or directory\n");
    });

    test("a success needs no journal", async () => {
      expect(await inside("/nowhere", ["--log=journald:box", "--log-level=debug", "features"])).toMatchObject({ status: 0, stderr: "" });
    });
  });
});
