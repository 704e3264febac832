/** conmon-rs' calls. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, shell } from "../support/harness.ts";
import { ConmonRs } from "./conmon-rs.ts";
import { useClients, waits } from "./support.ts";

const SILENT = { status: 0, text: "" };

describe.skipIf(!isRoot || !isRunt)("conmon-rs", () => {
  const { bundle, client, id, root } = useClients();

  test("create, and exec with the command on the command line: what looks like a flag behind the id is the command's", async () => {
    const engine = client();
    const [conmon, name] = [new ConmonRs(engine, root), id()];
    const path = bundle((config) => {
      waits(config);
      config.process.env.push("OF=the container");
      config.process.cwd = "/tmp";
    });
    const { pid } = await conmon.create(name, path);
    expect(await conmon.call("start", name)).toEqual(SILENT);
    // User, environment and directory are those of the container's process.
    const process = await conmon.exec(name, path, [
      "/bin/sh",
      "-c",
      'echo "$OF" in $PWD as $(id -u): "$@"',
      "sh",
      "-d",
      "--pid-file=x",
      "--",
    ]);
    expect(await engine.exited(process.pid)).toBe(0);
    expect(await process.stdout.all()).toBe("the container in /tmp as 0: -d --pid-file=x --\n");
    expect(await conmon.call("kill", name, "SIGKILL")).toEqual(SILENT);
    expect(await engine.exited(pid)).toBe(137);
  });

  test("global flags may come twice", async () => {
    const engine = client();
    const conmon = new ConmonRs(engine, root, [
      `--root=${root}/rs`,
      "--cgroup-manager=cgroupfs",
      "--cgroup-manager=cgroupfs",
      "--debug",
      "--debug",
    ]);
    const name = id();
    const { pid } = await conmon.create(
      name,
      bundle((config) => shell(config, "exit 4")),
    );
    await conmon.call("start", name);
    expect(await engine.exited(pid)).toBe(4);
  });

  test("terminals of a container and of an exec", async () => {
    const engine = client();
    const [conmon, name] = [new ConmonRs(engine, root), id()];
    const path = bundle((config) => {
      waits(config);
      config.process.terminal = true;
    });
    const first = engine.consoleSocket(join(path, "first"));
    await conmon.create(name, path, first);
    expect(await first.received).toMatchObject({ descriptors: 1, more: false });
    expect(await conmon.call("start", name)).toEqual(SILENT);
    const second = engine.consoleSocket(join(path, "second"));
    const { pid } = await conmon.exec(name, path, ["/bin/sh", "-c", "test -t 0 && echo terminal"], second);
    expect(await second.received).toMatchObject({ descriptors: 1, more: false });
    expect(await engine.exited(pid)).toBe(0);
    expect(await second.terminal.all()).toBe("terminal\r\n");
  });

  test("a failure is a status and words", async () => {
    const engine = client();
    const [conmon, name] = [new ConmonRs(engine, root), id()];
    const path = bundle(waits);
    await conmon.create(name, path);
    await conmon.call("start", name);
    await expect(conmon.exec(name, path, ["nowhere"])).rejects.toThrow(/^255: .*executable file not found in \$PATH/);
  });
});
