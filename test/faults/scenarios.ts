import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../support/config.ts";
import { REPOSITORY } from "../support/programs.ts";
import { ACTOR_SCENARIOS } from "./actor-scenarios.ts";
import type { ConfigWorld, Scenario } from "./scenario.ts";
import { CREATE, RUN } from "./words.ts";

const hook = [{ path: "/bin/true" }];
/** startContainer's is the container's own program. */
const HOOKS = {
  prestart: hook,
  createRuntime: hook,
  createContainer: hook,
  startContainer: hook,
  poststart: hook,
  poststop: hook,
};

/** A bit of everything. */
function rich(config: Config, { volume }: ConfigWorld): void {
  config["hooks"] = HOOKS;
  config.root.readonly = false;
  config.mounts.push(
    { destination: "/made/directory", type: "bind", source: volume, options: ["rbind", "ro"] },
    { destination: "/made/file", type: "bind", source: `${volume}/file`, options: ["bind"] },
    { destination: "/run", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
  );
  config.linux["devices"] = [{ path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 0o666, uid: 0, gid: 0 }];
  config.linux["seccomp"] = JSON.parse(readFileSync(join(REPOSITORY, "test/fixtures/seccomp-default.json"), "utf8"));
  config.linux.sysctl = { "net.ipv4.ip_forward": "1" };
  config.linux.resources = { ...config.linux.resources, memory: { limit: 64 << 20 }, pids: { limit: 100 }, cpu: { shares: 512 } };
  config.process["oomScoreAdj"] = 100;
}

function users(config: Config, { volume }: ConfigWorld): void {
  config.linux.namespaces.push({ type: "user" });
  config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
  config.mounts.push({ destination: "/made/file", type: "bind", source: `${volume}/file`, options: ["bind", "ro"] });
}

function idmapped(config: Config, { volume }: ConfigWorld): void {
  const map = [{ containerID: 0, hostID: 1000, size: 10 }];
  config.root.readonly = false;
  config.mounts.push({
    destination: "/made/directory",
    type: "bind",
    source: volume,
    options: ["bind"],
    uidMappings: map,
    gidMappings: map,
  });
}

/** Everything is there by the time that this fails. */
function failing(kind: "createRuntime" | "createContainer" | "startContainer"): (config: Config, world: ConfigWorld) => void {
  return (config, world) => {
    rich(config, world);
    config["hooks"] = { [kind]: [{ path: "/bin/false" }], poststop: hook };
  };
}

function terminal(config: Config): void {
  config.process.terminal = true;
}

function joined(config: Config, { netns }: ConfigWorld): void {
  for (const namespace of config.linux.namespaces) if (namespace.type === "network") namespace.path = netns;
  config.linux["netDevices"] = { d0: { name: "net0" }, d1: {} };
}

export const SCENARIOS: readonly Scenario[] = [
  { name: "create", verb: ["create", "--pid-file", "/tmp/world/pid", "-b", "BUNDLE", "ID"], config: rich, undoes: true },
  { name: "create-cold", verb: CREATE, config: rich, cold: true, undoes: true },
  { name: "create-idmap", verb: CREATE, config: idmapped, undoes: true },
  { name: "create-failing", verb: CREATE, config: failing("createRuntime"), fails: true },
  { name: "create-failing-inside", verb: CREATE, config: failing("createContainer"), fails: true },
  { name: "start-failing", verb: ["start", "ID"], before: [CREATE], config: failing("startContainer"), fails: true },
  { name: "exec-failing", verb: ["exec", "-d", "ID", "/nowhere"], before: [RUN], survives: "running", fails: true },
  { name: "create-userns", verb: CREATE, config: users, owner: 100_000, undoes: true },
  {
    name: "create-terminal",
    verb: ["create", "--console-socket", "SOCKET", "-b", "BUNDLE", "ID"],
    config: terminal,
    needs: "console",
    undoes: true,
  },
  { name: "create-devices", verb: CREATE, config: joined, needs: "devices", undoes: true },
  { name: "run-detached", verb: RUN, config: rich, undoes: true },
  {
    name: "run",
    verb: ["run", "-b", "BUNDLE", "ID"],
    config: (config) => {
      config.process.args = ["/bin/true"];
    },
    foreground: true,
  },
  {
    name: "run-hooks",
    verb: ["run", "-b", "BUNDLE", "ID"],
    config: (config, world) => {
      rich(config, world);
      config.process.args = ["/bin/true"];
    },
    foreground: true,
  },
  { name: "start", verb: ["start", "ID"], before: [CREATE], config: rich },
  { name: "exec-detached", verb: ["exec", "-d", "ID", "/bin/sleep", "999"], before: [RUN], config: rich, survives: "running" },
  { name: "exec", verb: ["exec", "ID", "/bin/true"], before: [RUN], survives: "running", foreground: true },
  {
    name: "exec-terminal",
    verb: ["exec", "-d", "-t", "--console-socket", "SOCKET", "ID", "/bin/sleep", "999"],
    before: [RUN],
    needs: "console",
    survives: "running",
  },
  { name: "mounts-add", verb: ["mounts", "add", "ID", "MOUNTS"], before: [RUN], config: rich, survives: "running" },
  {
    name: "mounts-remove",
    verb: ["mounts", "remove", "ID", "MOUNTS"],
    before: [RUN, ["mounts", "add", "ID", "MOUNTS"]],
    config: rich,
    survives: "running",
  },
  { name: "state", verb: ["state", "ID"], before: [RUN], survives: "running" },
  { name: "ps", verb: ["ps", "-f", "json", "ID"], before: [RUN], survives: "running" },
  { name: "events", verb: ["events", "--stats", "ID"], before: [RUN], survives: "running" },
  { name: "kill", verb: ["kill", "ID", "WINCH"], before: [RUN], survives: "running" },
  { name: "kill-all", verb: ["kill", "--all", "ID", "KILL"], before: [RUN], gives: "stopped" },
  {
    name: "update",
    verb: ["update", "--memory", "33554432", "--pids-limit", "50", "--cpu-share", "256", "ID"],
    before: [RUN],
    config: rich,
    survives: "running",
  },
  { name: "pause", verb: ["pause", "ID"], before: [RUN] },
  { name: "resume", verb: ["resume", "ID"], before: [RUN, ["pause", "ID"]] },
  { name: "delete", verb: ["delete", "ID"], before: [RUN, ["kill", "ID", "KILL"]], stopped: true, config: rich, gives: "gone" },
  { name: "delete-created", verb: ["delete", "ID"], before: [CREATE], gives: "gone" },
  { name: "delete-force", verb: ["delete", "--force", "ID"], before: [RUN], config: rich, gives: "gone" },
  { name: "delete-paused", verb: ["delete", "--force", "ID"], before: [RUN, ["pause", "ID"]], gives: "gone" },
  ...ACTOR_SCENARIOS,
];
