import { HOOK_KINDS } from "../../spec/index.ts";
import type { Found, NotFound } from "../host/container-files.ts";
import type { HostCheck } from "../host/host-check.ts";
import type { BundleView, FileFacts } from "../host/view.ts";
import { explainFormat } from "../process/host-executable.ts";

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
