/** The image for nodes of Kubernetes (make node-image), built by buildah: its script and its program start in it. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRoot } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const CONTEXT = join(REPOSITORY, "build/node-image");
const NAME = "localhost/runt-node:test";

describe.skipIf(!isRoot || !existsSync(CONTEXT))("the image for nodes of Kubernetes (needs root and make node-image)", () => {
  const directory = mkdtempSync(join(tmpdir(), "runt-node-image-"));
  const storage = ["--root", join(directory, "root"), "--runroot", join(directory, "run"), "--storage-driver", "vfs"];
  const buildah = (...words: string[]) => execFileSync("buildah", [...storage, ...words], { encoding: "utf8" });
  let container = "";
  beforeAll(() => {
    buildah("build", "--quiet", "--isolation", "chroot", "-t", NAME, CONTEXT);
    container = buildah("from", "--pull-never", NAME).trim();
  });
  afterAll(() => {
    if (container !== "") buildah("rm", container);
    rmSync(directory, { recursive: true, force: true });
  });

  test("its script finds its tools, and puts a node that is not ready back as it was", () => {
    const configuration = join(directory, "node/etc/containerd/config.toml");
    mkdirSync(join(directory, "node/etc/containerd"), { recursive: true });
    writeFileSync(configuration, "version = 2\n");
    // `false` in the place of nsenter: no command on the node succeeds.
    const environment = ["--env", "ON_NODE=false", "--env", "READY_SECONDS=1"];
    const volume = ["--volume", `${join(directory, "node")}:/host`];
    const words = ["run", "--isolation", "chroot", ...volume, ...environment, container, "--", "/opt/runt/node.sh", "install"];
    const { stderr } = spawnSync("buildah", [...storage, ...words], { encoding: "utf8" });
    expect(stderr).toContain("runt-node: containerd or kubelet is not ready after 1 s: /etc/containerd/config.toml is put back\n");
    expect(readFileSync(configuration, "utf8")).toBe("version = 2\n");
    expect(readFileSync(join(directory, "node/opt/runt/bin/runt")).equals(readFileSync(join(REPOSITORY, "bin/runt")))).toBe(true);
  });

  test("it has the program with its licences, and what the pods run", () => {
    const inside = (...words: string[]) => buildah("run", "--isolation", "chroot", container, "--", ...words);
    expect(inside("/opt/runt/bin/runt", "--version")).toMatch(/^runt version /);
    expect(inside("ls", "/opt/runt").split("\n")).toEqual(expect.arrayContaining(["LICENSE", "NOTICE", "runt.spdx.json", "third-party"]));
    inside("/bin/sleep", "0");
  });
});
