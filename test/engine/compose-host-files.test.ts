/** Files of the host in services of a Compose file: directories as configs, names of /etc/hosts, and a project behind a link. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, until, useEngine } from "./support.ts";
import { SLEEP } from "./tasks.ts";

describe.skipIf(!isRoot)("files of the host in Compose files (needs root)", () => {
  const scene = useEngine();

  test("a project behind a link: its directory as a config, relative mounts, and the names of the host with those of the file", async () => {
    await scene.daemon();
    const real = join(scene.directory, "real");
    mkdirSync(join(real, "conf.d"), { recursive: true });
    mkdirSync(join(real, "data"));
    writeFileSync(join(real, "conf.d/one"), "of a directory\n");
    writeFileSync(join(real, "data/two"), "of a mount\n");
    symlinkSync("real", join(scene.directory, "shop"));
    const service = {
      ...{ "x-runt-rootfs": scene.rootfs(), network_mode: "host", stop_grace_period: "0s" },
      entrypoint: ["/bin/sh", "-c", `cat /etc/conf.d/one /data/two /etc/hosts; ${SLEEP.replaceAll("$", "$$$$")}`],
      ...{ configs: [{ source: "conf", target: "/etc/conf.d" }], volumes: ["./data:/data:ro"], extra_hosts: ["db.example=192.0.2.5"] },
    };
    writeFileSync(join(real, "compose.yaml"), JSON.stringify({ services: { web: service }, configs: { conf: { file: "./conf.d" } } }));
    const file = join(scene.directory, "shop/compose.yaml");
    expect(await scene.ctl("apply", "-f", file)).toEqual({ status: 0, stdout: "task web created\n", stderr: "" });
    const printed = async () => (await scene.ctl("-g", "shop", "logs", "web")).stdout;
    await until(async () => (await printed()).includes("192.0.2.5"));
    const ofHost = readFileSync("/etc/hosts", "utf8").replace(/([^\n])$/, "$1\n");
    expect(await printed()).toBe(`of a directory\nof a mount\n${ofHost}192.0.2.5\tdb.example\n`);
    expect((await scene.ctl("delete", "-f", file)).status).toBe(0);
  });
});
