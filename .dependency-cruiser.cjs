/** The layers of docs/architecture.md: what may import what. Run by `make lint`. */
const PURE = "^src/(linux|spec|check|config|plan|errors)/";
/** Pure parts of folders that also have effects. */
const PURE_PARTS =
  "^src/(cgroup/(compile|systemd/(compile|gvariant|wire)|devices/(emulator|rule|program)|stats/(json|parse|types|v1|v2)|parent|path|task|contract)|network/(message|address)|resctrl/(mount|schemata)|criu/(cgroups|external-names|protobuf|messages|mounts|stdio|log))";

/** A constant of the build: false in the product. */
const TESTING = "^src/runtime/host/testing\\.ts$";

/** A folder may reach the named ones (and itself), nothing else in src. */
const only = (folder, ...allowed) => ({
  name: `${folder}-imports`,
  severity: "error",
  comment: `src/${folder} may import ${allowed.join(", ") || "nothing else in src"}`,
  from: { path: `^src/${folder}/`, pathNot: "\\.test\\.ts$" },
  to: { path: "^src/", pathNot: [TESTING, ...[folder, ...allowed].map((name) => `^src/${name}/`)] },
});

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      severity: "error",
      comment: "modules that need each other are one idea",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "pure-without-effects",
      severity: "error",
      comment: "spec, check, config, plan and value conversions touch neither the host nor Node",
      from: { path: [PURE, PURE_PARTS], pathNot: "\\.test\\.ts$" },
      to: {
        path: ["^runt:host$", "^src/(state|hooks|console|seccomp|network|resctrl|criu|host|container|cli)/"],
        pathNot: [PURE_PARTS, TESTING],
      },
    },
    {
      name: "pure-without-node",
      severity: "error",
      comment: "the program runs in QuickJS: nothing of Node exists there",
      from: { path: "^src/", pathNot: ["^src/(executor|engine|pod)/", "\\.test\\.ts$"] },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "zod-only-in-schemas",
      severity: "error",
      comment: "zod is for the build; the program has the generated validator",
      from: { path: "^src/", pathNot: ["^src/runtime/spec/schema/", "^src/(executor|engine|pod)/"] },
      to: { path: "^(node_modules/)?zod", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "host-through-its-index",
      severity: "error",
      comment: "the host module is reached through src/runtime/host (the effect folders may name it directly)",
      from: { path: "^src/(cli|container)/" },
      to: { path: "^runt:host$" },
    },
    only("errors"),
    only("linux"),
    only("spec", "linux", "errors"),
    only("check", "config", "spec", "linux", "errors"),
    only("config", "spec", "linux", "errors"),
    only("plan", "config", "spec", "linux", "errors"),
    only("cgroup", "config", "plan", "spec", "host", "errors"),
    only("network", "host", "errors"),
    only("state", "network", "host", "errors"),
    only("resctrl", "spec", "host", "errors"),
    only("criu", "cgroup/systemd/wire", "spec", "host", "errors"),
    only("hooks", "spec", "state", "host", "errors"),
    only("console", "host", "errors"),
    only("seccomp", "config", "spec", "host", "errors"),
    only("host"),
    only(
      "container",
      "linux",
      "spec",
      "check",
      "config",
      "plan",
      "cgroup",
      "state",
      "hooks",
      "console",
      "seccomp",
      "network",
      "resctrl",
      "criu",
      "host",
      "errors",
    ),
    only("trace", "plan", "host", "errors"),
    only("cli", "trace", "container", "check", "spec", "plan", "host", "errors"),
    // It reaches the runtime by running it, as every other client; both know the same Linux.
    only("executor", "linux"),
  ],
  options: {
    doNotFollow: { path: ["node_modules", "build"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".js", ".d.ts"] },
  },
};
