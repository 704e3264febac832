/** Layers are used before the disk has them: what a killed daemon and a power cut leave of that. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hostileScene } from "./hostile-scene.ts";
import { tar } from "./image-files.ts";
import { identityOf, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));
const ANOTHER_BOOT = "11111111-2222-3333-4444-555555555555";

describe.skipIf(!isRoot || !HAS_PROGRAMS)("images that the disk does not have yet (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const { images, above, task, apply, remove, said } = hostileScene(scene);
  const marks = () => readdirSync(join(images(), "unsynced"));
  const layers = () => readdirSync(join(images(), "layers"));
  const gate = () => join(scene.directory, "gate");
  const calls = () => (existsSync(join(gate(), "calls")) ? readFileSync(join(gate(), "calls"), "utf8").length : 0);
  /** sync(1) says that it was called, and then waits until the gate is open. */
  const slowSync = (): string => {
    rmSync(gate(), { recursive: true, force: true });
    mkdirSync(gate());
    const script = `printf x >> ${gate()}/calls\nwhile [ ! -e ${gate()}/open ]; do sleep 0.05; done\nexec /usr/bin/sync "$@"`;
    writeFileSync(join(gate(), "sync"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return `export PATH=${gate()}:$PATH`;
  };
  const open = () => writeFileSync(join(gate(), "open"), "");
  const running = (name: string) => until(async () => (await task(name)).known === "RUNNING");

  test("E45: a container runs while its layers are written to the disk; if the daemon is killed, the next one writes them", async () => {
    const before = slowSync();
    const daemon = await scene.daemon({ before });
    await apply("t", above(tar([{ name: "upper", content: "upper" }])), SLEEP);
    await running("t");
    expect(layers()).toHaveLength(2);
    expect(marks().sort()).toEqual(layers().sort());
    const first = calls();
    expect(first).toBeGreaterThan(0);
    const container = identityOf(scene.list()[0]!.pid);
    await daemon.kill();
    await scene.daemon({ before });
    await until(() => calls() > first);
    expect(identityOf(scene.list()[0]!.pid)).toBe(container);
    expect(marks()).toHaveLength(2);
    open();
    await until(() => marks().length === 0);
    expect(layers()).toHaveLength(2);
    await remove("t");
  });

  test("E45: after a power cut, a layer that may be incomplete on the disk is unpacked again, and a complete one stays", async () => {
    const before = slowSync();
    const first = await scene.daemon({ before });
    const kept = above(tar([{ name: "kept", content: "kept" }]));
    open();
    expect(await said(kept, "cat /kept")).toEqual(["kept"]);
    await until(() => marks().length === 0);
    const synced = layers();
    rmSync(join(gate(), "open"));
    const lost = above(tar([{ name: "lost", content: "lost" }]));
    expect(await said(lost, "cat /lost")).toEqual(["lost"]);
    const [unsynced] = marks();
    expect(layers().sort()).toEqual([...synced, unsynced].sort());
    await first.kill();
    // The name is there, and the content is not.
    writeFileSync(join(images(), "layers", unsynced!, "lost"), "");
    open();
    await scene.daemon({ before, bootId: ANOTHER_BOOT });
    expect([layers().sort(), marks(), readdirSync(join(images(), "staging"))]).toEqual([synced.sort(), [], []]);
    expect(await said(lost, "cat /lost")).toEqual(["lost"]);
    expect(await said(kept, "cat /kept")).toEqual(["kept"]);
  });

  test("E45: a daemon that is killed while it unpacks leaves neither a layer nor its mark", async () => {
    const before = slowSync();
    open();
    const pids = join(gate(), "pids");
    writeFileSync(join(gate(), "umoci"), `#!/bin/sh\necho $$ >> ${pids}\nsleep 300\n`, { mode: 0o755 });
    const daemon = await scene.daemon({ before });
    await apply("t", above(tar([{ name: "x" }])));
    await until(() => existsSync(pids) && marks().length === 1);
    await daemon.kill();
    rmSync(join(gate(), "umoci"));
    await scene.daemon({ before });
    await until(async () => (await task("t")).known === "STOPPED");
    expect((await task("t")).reason).toMatch(/exited with 0$/);
    await until(() => marks().length === 0);
    expect(layers()).toHaveLength(2);
    await remove("t");
  });

  test("E45: an error of the disk is reported, and the write is tried again with the next layer", async () => {
    const before = slowSync();
    writeFileSync(join(gate(), "sync"), `#!/bin/sh\n[ -e ${gate()}/open ] || { echo "sync: error" >&2; exit 1; }\n`, { mode: 0o755 });
    const daemon = await scene.daemon({ before });
    expect(await said(above(tar([{ name: "first", content: "first" }])), "cat /first")).toEqual(["first"]);
    await until(() => daemon.log().includes("layers-not-synced"));
    const left = marks().length;
    expect(left).toBeGreaterThan(0);
    open();
    expect(await said(above(tar([{ name: "next", content: "next" }])), "cat /next")).toEqual(["next"]);
    await until(() => marks().length === 0);
  });
});
