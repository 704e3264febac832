/** Verbs that are struck while others are at work on the same things (actors.ts), or that the container keeps waiting. */
import type { Config } from "../support/config.ts";
import { enterHook } from "./actors.ts";
import type { Scenario } from "./scenario.ts";
import { CREATE, RUN } from "./words.ts";

const shell = (line: string) => ({ path: "/bin/sh", args: ["sh", "-c", line] });

/** `line`: what a hook does on the host when the container is about to be made, and its cgroup is there. */
function hooked(line: (cgroup: string) => string, more: readonly object[] = []): (config: Config) => void {
  return (config) => {
    config["hooks"] = { createRuntime: [shell(line(config.linux.cgroupsPath)), ...more], poststop: [{ path: "/bin/true" }] };
    config.linux.resources = { ...config.linux.resources, memory: { limit: 64 << 20 }, pids: { limit: 100 } };
  };
}

function waiting(timeout?: number): (config: Config) => void {
  return (config) => {
    const hook = { path: "/bin/sleep", args: ["sleep", "1000"] };
    config["hooks"] = { startContainer: [timeout === undefined ? hook : { ...hook, timeout }] };
  };
}

/** Of gc, which goes through all cgroups, and of a wait, which looks again and again. */
const LOOKS = "openat,fstat,getxattr,readdir,stat,lstat,readFile";

const FORCE = ["delete", "--force", "ID"];
const KILL = ["kill", "ID", "KILL"];
const EXEC = ["exec", "-d", "ID", "/bin/sleep", "999"];
const END_RUNTIME = () => "kill -KILL $PPID";
const STOP_RUNTIME = () => "kill -STOP $PPID";

export const ACTOR_SCENARIOS: readonly Scenario[] = [
  { name: "create-visited", verb: CREATE, config: hooked(enterHook), needs: "visitor", undoes: true },
  { name: "create-failing-visited", verb: CREATE, config: hooked(enterHook, [{ path: "/bin/false" }]), needs: "visitor", fails: true },
  { name: "kill-all-visited", verb: ["kill", "--all", "ID", "KILL"], before: [RUN], needs: "visitor", gives: "stopped" },
  { name: "delete-force-visited", verb: FORCE, before: [RUN], needs: "visitor", gives: "gone" },
  {
    name: "gc-visited",
    verb: ["gc", "--yes"],
    before: [RUN],
    orphaned: true,
    config: hooked(END_RUNTIME),
    needs: "visitor",
    gives: "gone",
    uncounted: LOOKS,
  },
  { name: "run-detached-old-monitor", verb: RUN, needs: "old-monitor", undoes: true },
  { name: "delete-force-old-monitor", verb: FORCE, needs: "old-monitor", gives: "gone" },
  { name: "kill-locked", verb: KILL, before: [RUN], needs: "stopped-runtime", gives: "stopped" },
  { name: "exec-detached-locked", verb: EXEC, before: [RUN], needs: "stopped-runtime", survives: "running" },
  { name: "pause-locked", verb: ["pause", "ID"], before: [RUN], needs: "stopped-runtime", survives: "running", fails: true, slow: true },
  { name: "delete-force-locked", verb: FORCE, before: [RUN], needs: "stopped-runtime", gives: "gone", uncounted: LOOKS, slow: true },
  {
    name: "delete-force-stopped-create",
    verb: FORCE,
    config: hooked(STOP_RUNTIME),
    needs: "stopped-create",
    gives: "gone",
    uncounted: LOOKS,
    slow: true,
  },
  { name: "exec-detached-stopped-init", verb: EXEC, before: [RUN], needs: "stopped-init", survives: "running" },
  { name: "delete-force-stopped-init", verb: FORCE, before: [RUN], needs: "stopped-init", gives: "gone" },
  { name: "start-timeout", verb: ["start", "ID"], before: [CREATE], config: waiting(1), fails: true, slow: true },
  {
    name: "update-hanging-start",
    verb: ["update", "--pids-limit", "99", "ID"],
    before: [CREATE],
    config: waiting(),
    needs: "hanging-start",
    survives: "running",
  },
  { name: "kill-hanging-start", verb: KILL, before: [CREATE], config: waiting(), needs: "hanging-start", gives: "stopped" },
  { name: "delete-force-hanging-start", verb: FORCE, before: [CREATE], config: waiting(), needs: "hanging-start", gives: "gone" },
];
