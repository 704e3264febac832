/** The part of the group `process` about terminals and descriptors. */
import { closeSync, lstatSync, openSync, readdirSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import { listenForConsole } from "../console.ts";
import { waitFor } from "../container.ts";
import type { Context } from "../context.ts";
import type { Levels } from "../group.ts";
import { deviceName } from "../observe.ts";

const STREAMS = [0, 1, 2];

const terminal =
  (args: readonly string[], fields: object = {}) =>
  (config: Config) =>
    void Object.assign(config.process, { terminal: true, args, ...fields });

const shell = (command: string) => ["/bin/sh", "-c", command];

/** Files that say which one they are, open. */
function openFiles(c: Context, count: number): number[] {
  const directory = c.scratch("files");
  return Array.from({ length: count }, (_, index) => {
    const path = join(directory, String(index));
    writeFileSync(path, `file ${index}\n`);
    const fd = openSync(path, "r");
    c.cleanup(() => closeSync(fd));
    return fd;
  });
}

export function standardStreams({ must, should, may }: Levels): void {
  must(
    3,
    "with terminal the three standard streams are one pty of the container's devpts, whose master goes to the console socket",
    async (c) => {
      const { socket, text } = await listenForConsole(c);
      const container = await c.start(terminal(shell("echo shown; sleep 60")), { flags: ["--console-socket", socket] });
      const pid = await container.pid();
      const { device } = await container.mount("/dev/pts");
      for (const stream of STREAMS) {
        assert.equal(readlinkSync(`/proc/${pid}/fd/${stream}`), "/dev/pts/0");
        const { dev } = statSync(`/proc/${pid}/fd/${stream}`, { bigint: true });
        assert.equal(deviceName(dev), device);
      }
      const controlling = (await container.proc("stat")).replace(/^.*\) /s, "").split(" ")[4];
      assert.equal(Number(controlling), Number(statSync(`/proc/${pid}/fd/0`).rdev));
      await waitFor(() => text().includes("shown"), "the output");
      assert.match(text(), /^fds=1 .*terminal=yes more=no/);
    },
  );
  must(4, "a terminal without a receiver, and a console socket without a terminal, are refused", async (c) => {
    await c.refused(terminal(["/bin/true"]), "/process/terminal");
    const { socket } = await listenForConsole(c);
    await c.refusedBundle(c.bundle(), "/process/terminal", ["--console-socket", socket]);
  });
  must(5, "without terminal, consoleSize has no effect", async (c) => {
    for (const fields of [{}, { terminal: false }]) {
      const output = await c.output("[ -t 0 ] || [ -t 1 ] || echo no terminal", (config) =>
        Object.assign(config.process, { consoleSize: { height: 31, width: 97 }, ...fields }),
      );
      assert.equal(output, "no terminal\n");
    }
  });
  should(6, "consoleSize is the first size of the terminal", async (c) => {
    for (const [height, width] of [
      [31, 97],
      [5, 200],
    ]) {
      const { socket, text } = await listenForConsole(c);
      await c.start(terminal(shell("stty size; sleep 60"), { consoleSize: { height, width } }), { flags: ["--console-socket", socket] });
      await waitFor(() => text().includes(`\n${height} ${width}\r`), `the size ${height} ${width}`);
    }
  });
  should(19, "the program has the standard streams and no other descriptor", async (c) => {
    const container = await c.start((config) => Object.assign(config.process, { args: ["/bin/sleep", "60"] }), { extra: openFiles(c, 3) });
    assert.deepEqual(readdirSync(`/proc/${await container.pid()}/fd`).map(Number), STREAMS);
  });
  may(20, "LISTEN_FDS descriptors are passed on, with the LISTEN_PID of the program", async (c) => {
    const container = c.container(
      c.bundle((config) => {
        config.process.args = shell('echo "$LISTEN_FDS $LISTEN_PID $$"; cat <&3; cat <&4; ls /proc/self/fd');
      }),
    );
    const script = 'LISTEN_FDS=2 LISTEN_PID=$$ exec "$@"';
    const { stdout } = await c.shell(script, ["run", "--bundle", container.bundle, container.id], { extra: openFiles(c, 3) });
    // ls has its directory open as the next one.
    assert.equal(stdout, "2 1 1\nfile 0\nfile 1\n0\n1\n2\n3\n4\n5\n");
  });
  must(21, "/dev/fd, /dev/stdin, /dev/stdout and /dev/stderr lead to the descriptors of the process that opens them", async (c) => {
    const container = await c.start();
    const links = { fd: "/proc/self/fd", stdin: "/proc/self/fd/0", stdout: "/proc/self/fd/1", stderr: "/proc/self/fd/2" };
    for (const [name, target] of Object.entries(links)) {
      const path = await container.path(`/dev/${name}`);
      assert.ok(lstatSync(path).isSymbolicLink());
      assert.equal(readlinkSync(path), target);
    }
    assert.equal(await c.output("echo shown > /dev/stdout"), "shown\n");
    // Not of the specification; crun makes it too, runc where the host has /proc/kcore.
    if (c.isRunt) assert.equal(readlinkSync(await container.path("/dev/core")), "/proc/kcore");
  });
  may(24, "--preserve-fds skips descriptors that are not open", async (c) => {
    const container = c.container(
      c.bundle((config) => {
        config.process.args = shell("cat <&3; cat <&5; ls /proc/self/fd");
      }),
    );
    const args = ["run", "--bundle", container.bundle, "--preserve-fds", "3", container.id];
    const { status, stdout, stderr } = await c.shell('exec 4<&-; exec "$@"', args, { extra: openFiles(c, 4) });
    assert.equal(status, 0, stderr);
    // 6 was open and is none of the three; ls has its directory open as the first that is free.
    assert.equal(stdout, "file 0\nfile 2\n0\n1\n2\n3\n4\n5\n");
  });
}
