/** Scratch directories that get what the image has at their place: the volumes of Compose without a name. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { baseLayer, tar, writeLayout } from "./image-files.ts";
import { http, isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

const HAS_PROGRAMS = ["skopeo", "umoci"].every((name) => existsSync(`/usr/bin/${name}`));

describe.skipIf(!isRoot || !HAS_PROGRAMS)("scratch directories with content (needs root, skopeo and umoci)", () => {
  const scene = useEngine();
  const logOf = async () => (await scene.ctl("logs", "t")).stdout;

  test("content, owner and mode of the image, once; what asks for nothing is empty; both go with the task", async () => {
    await scene.daemon();
    const directory = join(scene.directory, "image");
    const site = [
      { name: "srv/", type: "5" },
      { name: "srv/site/", type: "5", mode: 0o750, uid: 1234 },
      { name: "srv/site/index", content: "hello\n", mode: 0o640, uid: 1234 },
    ];
    writeLayout(directory, { layers: [baseLayer(), tar(site)], config: { Entrypoint: ["/bin/sh", "-c"] } });
    const script = `for one in /srv/site /empty /kept-empty; do echo $one $(stat -c "%a %u" $one) $(ls $one); done; echo more >> /srv/site/index; cat /srv/site/index; ${SLEEP}`;
    const mounts = [
      { volume: "anonymous-0", target: "/srv/site", noCopy: false },
      { volume: "plain", target: "/empty" },
      { volume: "nothing-there", target: "/kept-empty", noCopy: false },
    ];
    const container = { name: "a", image: `oci:${directory}:v1`, args: [script], mounts, stopTimeout: "5s" };
    const text = JSON.stringify({ name: "t", volumes: mounts.map(({ volume }) => ({ name: volume })), containers: [container] });
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
    const first = "/srv/site 750 1234 index\n/empty 777 0\n/kept-empty 777 0\nhello\nmore\n";
    await until(
      async () => (await logOf()) === first,
      undefined,
      () => first,
    );
    // The next one has what the first has left.
    expect((await scene.ctl("restart", "t")).status).toBe(0);
    await until(async () => (await logOf()).endsWith("hello\nmore\nmore\n"));
    expect((await scene.ctl("delete", "t")).status).toBe(0);
    expect(readdirSync(join(scene.stateDir, "volumes"))).toEqual([]);
  });
});
