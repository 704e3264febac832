/** Files into and out of a box that runs, and what its program may put in the way. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Pool, sandbox } from "../../src/executor/index.ts";
import { isRoot, RUNT, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("files of a box (needs root)", () => {
  const { directory, rootfs, ownRootfs } = useExecutors();

  test("a file goes in and out whole, and nothing that the program makes leads out of the box", async () => {
    const template = sandbox({ rootfs: rootfs(), disk: 4 << 20 });
    await using pool = await Pool.open({ template, size: 1, stateDir: join(directory, "files"), binary: RUNT });
    const script = `cd /tmp; mkdir out; echo result > out/result; ln -s /etc/shadow shadow; ln -s / root; ln -s /tmp/out link; mkfifo fifo
: > sparse; dd if=/dev/zero of=sparse bs=1 count=1 seek=3000000 2>/dev/null; mkdir closed; chmod 555 closed; echo ready
while [ ! -e in/go ]; do sleep 0.01; done; cat in/data; cat fixed`;
    await using box = await pool.take({ cmd: "/bin/sh", args: ["-c", `mkdir /tmp/in; ${script}`] });
    let text = "";
    box.stdout.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    await expect.poll(() => text).toBe("ready\n");
    const refused = (taking: Promise<unknown>) => taking.then(String, ({ code }: { code: string }) => code);

    expect((await box.read("/tmp/out/result")).toString()).toBe("result\n");
    for (const path of ["/tmp/shadow", "/tmp/root/etc/passwd", "/tmp/link/result", "/tmp/fifo", "/tmp/out", "/tmp/none", "/tmp/sparse"])
      expect(await refused(box.read(path)), path).toBe("file-refused");
    for (const path of ["/dev/null", "/proc/self/environ", "/proc/sys/kernel/hostname", "/proc/1/root/etc/shadow", "/sys/kernel/profiling"])
      expect(await refused(box.read(path)), path).toBe("file-refused");
    for (const path of ["/tmp/../etc/shadow", "tmp/out", "/", "/tmp/out/", "/tmp/\0"])
      expect(await refused(box.read(path)), path).toBe("invalid-argument");
    expect(await box.read("/tmp/sparse", { maxBytes: 4 << 20 })).toHaveLength(3_000_001);

    for (const path of [
      "/tmp/link/x",
      "/tmp/root/etc/x",
      "/etc/x",
      "/tmp/closed/x",
      "/tmp/none/x",
      "/proc/sys/kernel/hostname",
      "/tmp/out",
    ])
      expect(await refused(box.write(path, "x")), path).toBe("file-refused");
    expect(await refused(box.write("/tmp/full", Buffer.alloc(8 << 20)))).toBe("file-refused");
    expect(await refused(box.write("/tmp/large", Buffer.alloc((64 << 20) + 1)))).toBe("invalid-argument");
    // What has the name is replaced: a link, and a FIFO that no process reads.
    await box.write("/tmp/shadow", "replaced\n");
    await box.write("/tmp/fifo", "replaced\n");
    expect((await box.read("/tmp/shadow")).toString()).toBe("replaced\n");
    expect((await box.read("/tmp/fifo")).toString()).toBe("replaced\n");
    await box.write("/tmp/fixed", "fixed\n", { mode: 0o600 });
    await box.write("/tmp/in/data", Buffer.from("data\n"));
    await box.write("/tmp/in/go", "");
    expect(await box.wait()).toMatchObject({ exitCode: 0 });
    await expect.poll(() => text).toBe("ready\ndata\nfixed\n");
    expect(await refused(box.read("/tmp/out/result"))).toBe("wrong-state");
    expect(await refused(box.write("/tmp/in/late", ""))).toBe("wrong-state");
  });

  test("a link that the program puts in the place of a file while it is made changes nothing of the host", async () => {
    const victim = join(directory, "victim");
    writeFileSync(victim, "precious", { mode: 0o600 });
    // As root of the host: what the link leads to is the host's for the process that makes the file.
    const swap = `cd /tmp; echo up; while :; do for f in .runt-*; do [ -L "$f" ] || ln -sf ${victim} "$f"; done; done`;
    const launch = { rootfs: ownRootfs(), cmd: "/bin/sh", args: ["-c", swap] };
    await using pool = await Pool.open({ template: { launch }, size: 1, stateDir: join(directory, "swapped"), binary: RUNT });
    await using box = await pool.take({});
    await new Promise((resolve) => box.stdout.once("data", resolve));
    for (let at = 0; at < 40; at++) await box.write(`/tmp/file-${at}`, "content", { mode: 0o666 }).catch(() => {});
    expect([statSync(victim).mode & 0o777, statSync(victim).size]).toEqual([0o600, 8]);
    await box.kill();
  });
});
