/** What runt says about programs that cannot be started. Engines' view of many more: test/engines/broken.ts. */
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";

const STRACE = "/usr/bin/strace";

describe.skipIf(!isRoot || !isRunt)("diagnosis", () => {
  const { directory, bundle, id, root, runtime, ok } = useHarness();
  const app = join(directory, "app");

  /** The program is on a bind mount: the post-mortem has to see the container as it was. */
  function broken(text: string | Buffer, change: (config: Config) => void = () => {}): string {
    rmSync(app, { recursive: true, force: true });
    mkdirSync(app);
    writeFileSync(join(app, "start"), text);
    chmodSync(join(app, "start"), 0o755);
    return bundle((config) => {
      config.mounts.push({ destination: "/app", type: "bind", source: app, options: ["rbind", "ro"] });
      config.process.args = ["/app/start"];
      change(config);
    });
  }

  it.each([
    ["CR LF", "#!/bin/sh\r\necho\r\n", /no such file or directory: \/app\/start has Windows line endings/],
    [
      "a missing interpreter",
      "#!/usr/bin/python3\n",
      /no such file or directory: \/app\/start is a script for \/usr\/bin\/python3, which is missing/,
    ],
    ["no first line", "echo\n", /exec format error: \/app\/start: it is a text without #!/],
    ["a missing loader", readFileSync("/bin/true"), /no such file or directory: \/app\/start needs the loader .*, which is missing/],
  ])("names %s, in run and in start", async (_, text, expected) => {
    const path = broken(text);
    const run = await runtime(["run", "-b", path, id()]);
    expect(run.status).toBe(1);
    expect(run.stderr).toMatch(expected);

    const name = id();
    await ok(["create", "-b", path, name]);
    const start = await runtime(["start", name]);
    expect(start.status).toBe(1);
    expect(start.stderr).toMatch(expected);
    expect(JSON.parse(await ok(["state", name])).status).toBe("stopped");
    await ok(["delete", name]);
  });

  it("names the culprit of an exec, with its status", async () => {
    const path = broken("#!/bin/sh\r\n", (config) => {
      config.process.args = ["/bin/sleep", "100"];
    });
    const name = id();
    await ok(["run", "-d", "-b", path, name]);
    const script = await runtime(["exec", name, "/app/start"]);
    expect(script.status).toBe(255);
    expect(script.stderr).toMatch(/no such file or directory: \/app\/start has Windows line endings/);
    const cwd = await runtime(["exec", "--cwd", "/app/work", name, "true"]);
    expect(cwd.stderr).toMatch(/no such file or directory: the working directory \/app\/work is missing: \/app has no work/);
    const misspelt = await runtime(["exec", name, "ehco"]);
    expect(misspelt.stderr).toMatch(/executable file not found in \$PATH: did you mean echo\?/);
  });

  it("does not follow a link out of the root", async () => {
    const path = broken("", (config) => {
      config.process.args = ["/app/outside"];
    });
    symlinkSync("../../../../../../../../etc/debian_version", join(app, "outside"));
    const { stderr } = await runtime(["run", "-b", path, id()]);
    expect(stderr).toMatch(/no such file or directory: \/app\/outside is a link to .*debian_version, which is not there/);
  });

  it("names a link along PATH that leads nowhere, which validate does, too", async () => {
    const path = broken("", (config) => {
      config.process.args = ["tool"];
      config.process.env = ["PATH=/bin:/app"];
    });
    symlinkSync("tool", join(app, "tool"));
    const { stderr } = await runtime(["run", "-b", path, id()]);
    expect(stderr).toMatch(/executable file not found in \$PATH: \/app\/tool is a link to tool, which is not there/);
    expect((await runtime(["validate", "-b", path])).stdout).toMatch(
      /"tool" is in none of \/bin, \/app; \/app\/tool is a link that leads nowhere/,
    );
  });

  it("names a noexec mount", async () => {
    const path = broken("#!/bin/sh\n", (config) => {
      config.mounts.at(-1)!.options = ["rbind", "noexec"];
    });
    const { stderr } = await runtime(["run", "-b", path, id()]);
    expect(stderr).toMatch(/permission denied: \/app\/start is on a file system mounted with noexec \(\/app\)/);
  });

  it.skipIf(!existsSync(STRACE))("looks into an init that fails before its pid is known", async () => {
    const path = broken("#!/bin/sh\n", (config) => {
      config.mounts.at(-1)!.options = ["rbind", "noexec"];
    });
    // Nobody but the process that clones is late.
    const late = [STRACE, "-f", "-q", "-e", "trace=clone,clone3", "-e", "inject=clone,clone3:delay_exit=300000", "-o", "/dev/null"];
    const { stderr } = await call(directory, [...late, RUNTIME, "--root", root, "run", "-b", path, id()]);
    expect(stderr).toMatch(/permission denied: \/app\/start is on a file system mounted with noexec \(\/app\)/);
  });

  it.skipIf(!hasControllers)("names a memory limit under which init cannot get ready", async () => {
    const path = broken("#!/bin/sh\n", (config) => {
      config.linux.resources = { memory: { limit: 16384, swap: 16384 } };
    });
    const { stderr } = await runtime(["run", "-b", path, id()]);
    expect(stderr).toMatch(/the memory limit of 16384 bytes is too low/);
  });

  it("says nothing about a program that starts", async () => {
    const path = broken("#!/bin/sh\necho started\n");
    const { status, stdout, stderr } = await runtime(["run", "-b", path, id()]);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "started\n", stderr: "" });
  });
});
