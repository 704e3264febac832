import { HOOK_KINDS, type Spec } from "../../spec/index.ts";
import type { Check } from "../finding.ts";
import type { Found, HostCheck, NotFound } from "../host/container-files.ts";
import type { BundleView, FileFacts } from "../host/view.ts";
import { explainFormat } from "../process/host-executable.ts";

type Hook = NonNullable<NonNullable<NonNullable<Spec["hooks"]>["prestart"]>>[number];

function* eachHook({ hooks }: Spec): Generator<readonly [name: string, pointer: string, hook: Hook]> {
  if (!hooks) return;
  for (const kind of HOOK_KINDS) {
    for (const [index, hook] of (hooks[kind] ?? []).entries()) yield [`hooks.${kind}[${index}]`, `/hooks/${kind}/${index}`, hook];
  }
}

/** config, POSIX-platform hooks: path is absolute, a timeout is greater than zero, and nothing is cut short by a NUL byte. */
export const hooks: Check = (spec, report) => {
  if (!spec.hooks) return;
  for (const [name, pointer, { path, args, env, timeout }] of eachHook(spec)) {
    if (!path.startsWith("/")) report.error("hook-path-relative", `${pointer}/path`, `${name}: "${path}" is not an absolute path`);
    if (timeout !== null && timeout !== undefined && timeout <= 0)
      report.error(
        "hook-timeout",
        `${pointer}/timeout`,
        `${name}: timeout ${timeout} is not greater than zero`,
        "leave it out for no limit",
      );
    for (const text of [path, ...(args ?? []), ...(env ?? [])])
      if (text.includes("\0")) report.error("nul-byte", pointer, `${name}: contains a NUL byte`);
  }
};

/** config, POSIX-platform hooks: args is what execv(3) takes, the program's name first; env has entries NAME=value. */
export const hookArguments: Check = ({ hooks }, report) => {
  for (const kind of HOOK_KINDS) {
    hooks?.[kind]?.forEach(({ args, env }, index) => {
      const pointer = `/hooks/${kind}/${index}`;
      if (args && args.length === 0)
        report.advice("hook-args-empty", `${pointer}/args`, `hooks.${kind}[${index}]: args is empty, the path is put first`);
      env?.forEach((entry, position) => {
        if (entry.indexOf("=") > 0) return;
        report.warning(
          "hook-env-syntax",
          `${pointer}/env/${position}`,
          `hooks.${kind}[${index}]: "${entry}" is not of the form NAME=value, the hook gets it as it is`,
        );
      });
    });
  }
};

/** Those that create and start wait for. */
const BLOCKING = ["prestart", "createRuntime", "createContainer", "startContainer"] as const;

/** A hook that hangs would hang the runtime with it. */
export const hookTimeouts: Check = ({ hooks }, report) => {
  for (const kind of BLOCKING) {
    hooks?.[kind]?.forEach(({ timeout }, index) => {
      if (timeout === null || timeout === undefined)
        report.advice(
          "hook-without-timeout",
          `/hooks/${kind}/${index}`,
          `hooks.${kind}[${index}]: a hook that hangs stops the container's creation for ever`,
        );
    });
  }
};

/** config, POSIX-platform hooks: the program must exist, for startContainer in the container, for all others on the host. */
export const hookPrograms: HostCheck = ({ hooks }, report, { view, files }) => {
  if (!hooks) return;
  for (const kind of HOOK_KINDS) {
    const inside = kind === "startContainer";
    if (inside ? files === undefined : !view.live) continue;
    // A failing poststop hook is only a warning: the container is gone.
    const level = kind === "poststop" ? "warning" : "error";
    hooks[kind]?.forEach(({ path }, index) => {
      if (!path.startsWith("/")) return;
      const [pointer, name] = [`/hooks/${kind}/${index}/path`, `hooks.${kind}[${index}]`];
      const where = inside ? "in the container" : "on the host";
      const found = inside ? files?.find(path) : onHost(view, path);
      if (found === undefined || found.status === "opaque") return;
      if (found.status !== "found") report[level]("hook-missing", pointer, `${name}: "${path}" does not exist ${where}`);
      else if (found.facts.kind !== "file")
        report[level]("hook-not-executable", pointer, `${name}: "${path}" is a ${found.facts.kind}, not a program`);
      else if ((found.facts.mode & 0o111) === 0)
        report[level]("hook-not-executable", pointer, `${name}: "${path}" has no execute permission`);
      else {
        const seen = inside && files ? files : { find: (other: string) => onHost(view, other) ?? absent(other) };
        const problem = explainFormat(seen, found, view);
        if (problem !== undefined) report[level]("hook-format", pointer, `${name}: ${problem.message}`);
      }
    });
  }
};

const HOST_LAYER = { at: "/", index: -1, files: undefined, options: [] };

/** undefined: this user may not look. */
function onHost(view: BundleView, path: string): Found | NotFound | undefined {
  const facts = view.stat(path);
  const tree = view.tree("/");
  if (facts === "unknown" || tree === undefined) return undefined;
  return facts === undefined ? absent(path) : found(path, facts, tree);
}

function found(path: string, facts: FileFacts, tree: Found["tree"]): Found {
  return { status: "found", path, facts, layer: HOST_LAYER, tree, inTree: path };
}

function absent(path: string): NotFound {
  return { status: "missing", parent: "/", name: path, rest: [], layer: HOST_LAYER };
}
