/** The options of the three forms of a launch, with the kind of each. */
import { checkShape, KIND } from "../shape.ts";
import type { CommandLaunch, ConfigLaunch, LaunchCommand, ProcessLaunch } from "./command.ts";

type Kinds<Launch> = Readonly<Record<keyof Launch, (typeof KIND)[keyof typeof KIND]>>;

const CONFIG = {
  config: KIND.object,
  bundle: KIND.text,
  mounts: KIND.objects,
  namespaces: KIND.object,
  userNamespace: KIND.text,
  sandbox: KIND.text,
  resources: KIND.object,
  stdio: KIND.object,
  pty: KIND.objectOrFlag,
  annotations: KIND.textsByName,
  cgroupParent: KIND.text,
} as const satisfies Kinds<ConfigLaunch>;

const { config: _config, bundle: _bundle, ...shared } = CONFIG;

const PROCESS = {
  ...shared,
  process: KIND.object,
  rootfs: KIND.text,
  readonlyRootfs: KIND.flag,
  hostname: KIND.text,
  devices: KIND.objects,
  privileged: KIND.flag,
  unmasked: KIND.flag,
  seccomp: KIND.object,
} as const satisfies Kinds<ProcessLaunch>;

const { process: _process, ...common } = PROCESS;

const COMMAND = {
  ...common,
  cmd: KIND.text,
  args: KIND.texts,
  env: KIND.textsByName,
  user: KIND.text,
  additionalGids: KIND.numbers,
  cwd: KIND.text,
  capabilities: KIND.objectOrTexts,
  rlimits: KIND.objects,
  noNewPrivileges: KIND.flag,
  oomScoreAdj: KIND.number,
} as const satisfies Kinds<CommandLaunch>;

/** @throws ExecutorError invalid-argument, with the name of the option in `details.field` */
export function checkOptions(command: LaunchCommand): void {
  const given = Object(command) as object;
  if ("config" in given) checkShape("launch", command, CONFIG, ["bundle"]);
  else if ("process" in given) checkShape("launch", command, PROCESS, ["rootfs"]);
  else checkShape("launch", command, COMMAND, ["rootfs", "cmd"]);
}
