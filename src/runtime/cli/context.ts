/** The global flags, resolved: what every verb starts from. */
import { printable, RuntError } from "../errors/index.ts";
import type { HeadStart } from "../execute/head-start/index.ts";
import * as host from "../host/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import type { CommandLine, FlagValues } from "./parse.ts";
import type { Reporter } from "./report.ts";
import { styleOf } from "./style.ts";

export interface VerbContext {
  readonly options: RuntimeOptions;
  readonly flags: FlagValues;
  readonly positionals: readonly string[];
  /** --root was given: then a missing directory is an error of `list`. */
  readonly rootGiven: boolean;
  /** --criu */
  readonly criu?: string;
  /** --rootless was given, and not auto. */
  readonly rootlessGiven: boolean;
  /** Global words to run this very binary again with the same settings. */
  readonly globalWords: readonly string[];
  /** Tells what a call that has succeeded warns of. */
  readonly warned: (of: Warned) => void;
}

const MANAGERS: ReadonlySet<string> = new Set(["cgroupfs", "systemd", "disabled"]);

/** A verb: returns the exit status. `headStart`: what its `beginEarly` returned. */
export type Verb = (context: VerbContext, headStart?: HeadStart) => number;

export function createContext({ global, flags, positionals }: CommandLine, reporter: Reporter): VerbContext {
  const manager = text(global["cgroup-manager"]) ?? (global["systemd-cgroup"] ? "systemd" : "cgroupfs");
  if (!MANAGERS.has(manager)) throw new RuntError("usage", `--cgroup-manager ${manager}: use cgroupfs, systemd or disabled`);
  const root = resolveRoot(text(global["root"]));
  let rootless = rootlessFlag(text(global["rootless"]));
  return {
    options: {
      root,
      // Most verbs do not ask, and the first look below /proc/self makes the kernel build it.
      get rootless() {
        rootless ??= host.geteuid() !== 0 || inUserNamespace();
        return rootless;
      },
      ...(manager === "disabled" && { withoutCgroup: true }),
      ...(manager === "systemd" && { systemd: true }),
    },
    flags,
    positionals,
    rootGiven: global["root"] !== undefined,
    ...(typeof global["criu"] === "string" && global["criu"] !== "" && { criu: global["criu"] }),
    rootlessGiven: global["rootless"] === "true" || global["rootless"] === "false",
    globalWords: ["--root", root],
    warned: (of) => {
      if (of.warnings.length > 0) tellWarnings(global, reporter, of);
    },
  };
}

export function text(value: FlagValues[string]): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The values of a repeatable flag. */
export function texts(value: FlagValues[string]): readonly string[] {
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

function resolveRoot(given: string | undefined): string {
  if (given === undefined) return defaultRoot();
  const root = absolutePath(given);
  if (root === "/") throw new RuntError("usage", "Option --root argument should not be set to /");
  return root;
}

/** The state directory of a call without --root. */
export function defaultRoot(): string {
  const runtimeDirectory = host.getenv("XDG_RUNTIME_DIR");
  // As runc: root of a user namespace need not be root of the host; Podman leaves USER out.
  const isRoot = host.geteuid() === 0;
  if (isRoot && (host.getenv("USER") === "root" || !runtimeDirectory || !inUserNamespace())) return "/run/runt";
  // Where logind would put it (pam_systemd(8)). Only a verb that makes something there needs it to exist.
  return `${runtimeDirectory || `/run/user/${host.geteuid()}`}/runt`;
}

/** Absolute and without `.`, `..` and doubled slashes; links are left as they are. */
export function absolutePath(path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${host.cwd()}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

/** undefined: it is to be found out. */
function rootlessFlag(when: string | undefined): boolean | undefined {
  switch (when) {
    case "true":
      return true;
    case "false":
      return false;
    case undefined:
    case "auto":
      return undefined;
    default:
      throw new RuntError("usage", `invalid value "${when}" for flag -rootless: use true, false or auto`);
  }
}

/** The initial user namespace as namespaces(7) shows it: its inode in nsfs (USER_NS_INIT_INO, include/uapi/linux/nsfs.h). */
const INITIAL = "user:[4026531837]";

/** The initial user namespace, and what is as good, maps everything to itself (user_namespaces(7)). */
function inUserNamespace(): boolean {
  if (host.readlink("/proc/self/ns/user") === INITIAL) return false;
  return !/^\s*0\s+0\s+4294967295\s*$/.test(host.readFile("/proc/self/uid_map", 65_536, true));
}

/** Warnings of a call that has succeeded. What fails says why it failed and nothing else: Podman reads the log as one JSON value then. */
export interface Warned {
  readonly warnings: readonly string[];
  /** Those of them that everybody is to be told. */
  readonly demanded: readonly string[];
}

/**
 * With --debug, or a --log-level that has warnings, all of them; else what the specification demands, but not into a JSON log: engines keep
 * that, and expect it to be empty or to have the one error. They go to --log, without it to stderr.
 */
function tellWarnings(global: FlagValues, reporter: Reporter, { warnings, demanded }: Warned): void {
  const level = global["debug"] === true ? "debug" : global["log-level"];
  const isSilent = level === "error" || (level === undefined && global["log"] !== undefined && global["log-format"] === "json");
  const told = level === undefined ? demanded : warnings;
  if (isSilent || told.length === 0) return;
  const label = styleOf(2).warning("warning:");
  for (const warning of new Set(told)) reporter.note("warning", warning, () => host.write(2, `${label} ${printable(warning)}\n`));
}
