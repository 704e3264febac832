/** Terminals with the options of devpts: owner, group and mode must be what they are under the peers. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { peerCommand } from "../support/crun.ts";
import { call, isRoot, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const PEERS: Readonly<Record<string, string>> = { runc: "/usr/sbin/runc", crun: "/usr/bin/crun" };
/** test/native/terminal.c */
const TERMINAL = join(REPOSITORY, "build/test/terminal");
const LOOK = "stat -c 'found %n %u:%g %a' $(tty) /dev/pts/ptmx";
const USUAL = ["nosuid", "noexec", "newinstance", "ptmxmode=0666"];

describe.skipIf(!isRoot)("terminals beside the peers (needs root)", () => {
  const { bundle, directory, id } = useHarness({ peers: true });

  interface Case {
    /** undefined: the mount has no list of options. */
    readonly options: readonly string[] | undefined;
    readonly uid?: number;
    readonly userNamespace?: boolean;
    /** The terminal is one of exec. */
    readonly exec?: boolean;
  }

  async function found(runtime: string, { options, uid = 0, userNamespace = false, exec = false }: Case): Promise<string[]> {
    const words = ["--root", join(directory, "peer")];
    const name = id();
    const change = (config: Config): void => {
      config.process.terminal = !exec;
      config.process.user = { uid, gid: 7 };
      shell(config, exec ? "sleep 1000" : `${LOOK} /dev/console`);
      config.mounts = config.mounts.filter(({ type }) => type !== "cgroup");
      for (const mount of config.mounts) {
        if (mount.type !== "devpts") continue;
        if (options === undefined) delete (mount as { options?: unknown }).options;
        else mount.options = [...options];
      }
      if (!userNamespace) return;
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
    };
    const path = bundle(change);
    const onTerminal = (args: readonly string[]) => [TERMINAL, "30", "90", "/usr/bin/env", ...peerCommand(runtime, [...words, ...args])];
    if (!exec) return lines(await call(directory, onTerminal(["run", "-b", path, name])));
    const started = await call(directory, peerCommand(runtime, [...words, "run", "-d", "-b", path, name]));
    expect(started).toMatchObject({ status: 0 });
    try {
      const document = join(directory, `${name}.json`);
      const args = ["/bin/sh", "-c", LOOK];
      writeFileSync(document, JSON.stringify({ terminal: true, cwd: "/", args, env: ["PATH=/bin:/usr/bin"], user: { uid, gid: 7 } }));
      return lines(await call(directory, onTerminal(["exec", "-t", "-p", document, name])));
    } finally {
      await call(directory, peerCommand(runtime, [...words, "delete", "--force", name]));
    }
  }

  /** The output of `terminal` is what was shown: other lines are the runtime's. */
  function lines({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string[] {
    // A peer that sets up the newlines of its console too late shows CR CR LF.
    const found = stdout.split(/\r*\n/).flatMap((line) => /found (.*)$/.exec(line)?.[1] ?? []);
    if (found.length === 0) throw new Error(`nothing was found: ${stdout}${stderr}`);
    return found;
  }

  const mode = (value: string): Case => ({ options: [...USUAL, `mode=${value}`, "gid=5"] });
  const owned: Case = { options: [...USUAL, "uid=1000", "gid=1001", "mode=0666"], uid: 33 };
  const cases: readonly (readonly [string, readonly string[], Case])[] = [
    ["mode=0600", ["runc", "crun"], mode("0600")],
    ["mode=0660", ["runc", "crun"], mode("0660")],
    ["mode=666", ["runc", "crun"], mode("666")],
    ["mode=0", ["runc", "crun"], mode("0")],
    ["mode=0620 for another user", ["runc", "crun"], { ...mode("0620"), uid: 33 }],
    ["no mode", ["runc", "crun"], { options: USUAL }],
    ["no mode, another user", ["runc", "crun"], { options: USUAL, uid: 33 }],
    ["uid, gid and mode", ["runc", "crun"], owned],
    // runc gives root's terminal to root whatever the mount says.
    ["uid, gid and mode, root", ["crun"], { ...owned, uid: 0 }],
    ["an empty list", ["runc", "crun"], { options: [] }],
    ["no list", ["crun"], { options: undefined }],
    ["no list, another user", ["crun"], { options: undefined, uid: 33 }],
    ["a user namespace", ["runc"], { ...mode("0640"), userNamespace: true }],
    ["exec: mode=0600", ["runc", "crun"], { ...mode("0600"), exec: true }],
    ["exec: no mode, another user", ["runc", "crun"], { options: USUAL, uid: 33, exec: true }],
    ["exec: uid, gid and mode", ["runc", "crun"], { ...owned, exec: true }],
    ["exec: a user namespace", ["runc"], { ...mode("0640"), userNamespace: true, exec: true }],
  ];
  for (const [name, peers, asked] of cases)
    for (const peer of peers)
      test.skipIf(!existsSync(PEERS[peer]!))(`${name}: as ${peer}`, async () => {
        expect(await found(RUNTIME, asked)).toEqual(await found(PEERS[peer]!, asked));
      });
});
