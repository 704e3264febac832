/** Networks of several tasks that are given back at once. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pluginsWith, useNetworkHost } from "./network-host.ts";
import { noNetworks } from "./network-plugins.ts";
import { http, isRoot, LONGEST_MS, until, useEngine } from "./support.ts";
import { taskText } from "./tasks.ts";

/** More than the networks that are made at once. */
const TASKS = 6;

describe.skipIf(!isRoot || noNetworks !== undefined)("networks that are given back at once (needs root and CNI plugins)", () => {
  const scene = useEngine();
  const host = useNetworkHost(scene);
  const lines = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []);

  test(
    "E71: the bridge is removed while plugins release the addresses, and one program unmounts the namespaces of several tasks",
    async () => {
      const at = (name: string) => join(scene.directory, name);
      mkdirSync(at("programs"));
      const [begun, ended, unmounted] = [at("begun"), at("ended"), at("unmounted")];
      // The end of the test removes the directory, which ends the wait.
      const wait = (until: string) => `while [ -d ${scene.directory} ] && ! ${until}; do sleep 0.05; done`;
      const path = pluginsWith(scene, "plugins", {
        bridge: [
          `[ "$CNI_COMMAND" = DEL ] || exec /usr/lib/cni/bridge`,
          `echo "$CNI_CONTAINERID" >> ${begun}; ${wait(`[ -e ${at("go")} ]`)}`,
          `/usr/lib/cni/bridge || exit; echo "$CNI_CONTAINERID" >> ${ended}`,
        ].join("\n"),
      });
      // While the first one waits, the others ask.
      const umount = `[ "$1" != --lazy ] || { ${wait(`[ "$(wc -l < ${ended})" = ${TASKS} ]`)}; sleep 0.3; echo "$@" >> ${unmounted}; }`;
      writeFileSync(at("programs/umount"), `#!/bin/sh\n${umount}\nexec /usr/bin/umount "$@"\n`, { mode: 0o755 });
      await host.daemon({ args: ["--cni-path", path], env: { PATH: `${at("programs")}:${process.env["PATH"]}` } });
      const text = Array.from({ length: TASKS }, (_, index) =>
        taskText(scene.rootfs(), `n${index}`, [{ name: "main", script: "exec sleep 1000", fields: { stopSignal: "SIGKILL" } }], {
          network: { ports: [{ container: 80, host: 20_000 + index }] },
        }),
      ).join("\n---\n");
      await http(scene.socket, "POST", "/v1/apply", { text });
      const tasks = async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks")).text).tasks as { readonly known: string }[];
      await until(async () => (await tasks()).filter(({ known }) => known === "RUNNING").length === TASKS, LONGEST_MS);
      const bridges = () => host.on("ip", "-o", "link", "show", "type", "bridge");
      expect(await bridges()).toContain(": rt-");

      await http(scene.socket, "POST", "/v1/delete", { all: true });
      await until(() => lines(begun).length === TASKS);
      await until(async () => (await bridges()) === "");
      expect(lines(ended)).toEqual([]);
      writeFileSync(at("go"), "");
      await until(async () => (await tasks()).length === 0, LONGEST_MS);
      expect(await host.left()).toEqual([]);
      const calls = lines(unmounted).map((line) => line.split(" ").slice(1));
      expect(calls.length).toBeLessThan(TASKS);
      expect(new Set(calls.flat()).size).toBe(TASKS);
    },
    3 * LONGEST_MS,
  );
});
