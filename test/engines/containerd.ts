/** containerd with root, state and socket of its own and without CRI; `ctr` as its client. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { brokenScenarios } from "./broken.ts";
import { updateTask } from "./containerd-api.ts";
import { type EngineDefinition, IMAGE } from "./engine.ts";
import { call, firstByte, must, start } from "./process.ts";
import { timed } from "./ratios.ts";
import { scenarios } from "./scenarios/ctr.ts";

/** Plugins that do not work on this host, or that no test needs. */
const DISABLED = ["io.containerd.grpc.v1.cri", "aufs", "btrfs", "zfs", "devmapper", "native"].map((name) =>
  name.includes(".") ? name : `io.containerd.snapshotter.v1.${name}`,
);

export const containerd: EngineDefinition = {
  name: "ctr",
  scenarios: [...scenarios, ...brokenScenarios("ctr")],
  timed: "`ctr run -d`",
  whole: "`ctr run` until the first byte",
  async start(place, runtime) {
    const directory = join(place.directory, `containerd-${basename(runtime)}`);
    mkdirSync(directory, { recursive: true });
    const socket = join("/run", `containerd-${basename(runtime)}.sock`);
    const config = join(directory, "config.toml");
    writeFileSync(
      config,
      `version = 2
root = "${directory}/root"
state = "/run/containerd-${basename(runtime)}"
disabled_plugins = ${JSON.stringify(DISABLED)}
[grpc]
  address = "${socket}"
`,
    );
    // Where ctr loses --runc-binary (with --uidmap) the shim takes "runc" from PATH.
    const path = join(directory, "path");
    mkdirSync(path);
    symlinkSync(runtime, join(path, "runc"));
    const env = { ...process.env, PATH: `${path}:${process.env["PATH"]}` };
    const daemon = start(["containerd", "--config", config, "--log-level", "warn"], { timeout: 0, env });
    const ctr = ["ctr", "--address", socket, "--namespace", place.cgroup];
    for (let attempt = 0; (await call([...ctr, "version"])).status !== 0; attempt++) {
      if (attempt > 100) throw new Error(`containerd does not answer: ${(await daemon.ended).stderr}`);
      await sleep(100);
    }
    await must([...ctr, "image", "import", place.archive]);
    // Without the shares of the processor that it asks for by default.
    const unlimited = place.hasControllers ? [] : ["--cpu-shares", "0"];
    return {
      command: (args) => [...ctr, ...args],
      env: process.env as Record<string, string>,
      cgroupPath: (container) => `/${place.cgroup}/${container}`,
      update: (container, resources) => updateTask(socket, place.cgroup, container, resources),
      expand({ args }) {
        if (args[0] !== "run") return args;
        return ["run", "--runc-binary", runtime, ...args.slice(1)];
      },
      async timedStart(container) {
        const run = [...ctr, "run", ...unlimited, "--runc-binary", runtime, "-d", IMAGE, container, "sleep", "1000"];
        const time = await timed(() => must(run));
        await call([...ctr, "task", "delete", "--force", container]);
        await must([...ctr, "container", "delete", container]);
        return time;
      },
      timedWhole: (container) =>
        firstByte([...ctr, "run", "--rm", ...unlimited, "--runc-binary", runtime, IMAGE, container, "echo", "here"]),
      async clean(container) {
        const listed = (await call([...ctr, "container", "list", "-q"])).stdout.split("\n");
        for (const id of listed.filter((name) => name.startsWith(container))) {
          await call([...ctr, "task", "kill", "-s", "9", id]);
          await call([...ctr, "task", "delete", "--force", id]);
          await call([...ctr, "container", "delete", id]);
        }
      },
      async stop() {
        daemon.child.kill("SIGTERM");
        await daemon.ended;
      },
    };
  },
};
