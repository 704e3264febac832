/** The layers of docs/architecture.md: what may import what. Run by `make lint`. */
const PURE = "^src/(shared|runtime/(spec|check|config|plan|errors))/";
/** Pure parts of folders that also have effects. */
const PURE_PARTS =
  "^src/runtime/(cgroup/(compile|systemd/(compile|gvariant|wire)|devices/(emulator|rule|program)|stats/(json|parse|types|v1|v2)|path)|network/(message|address)|resctrl/schemata|isolation/(channel|configurations|asked/(annotations|pod|settings)|places|request)|criu/(cgroups|protobuf|messages|mounts|open-files|log))";

/** The program of the processes of a machine: it boots one, is its first process in the guest, and stands for the guest's processes on the host. */
const MACHINE_PROCESSES = "^src/runtime/isolation/(main\\.ts|kernel\\.ts|(boot|channel|flow|guest|monitor|network|processes)/)";

/** A constant of the build: false in the product. */
const TESTING = "^src/runtime/testing/";

/** What tests reach is their own affair. */
const TESTS = "\\.test\\.ts$";

/** A room of the runtime may reach the named rooms (and itself), and what all wings share. */
const room = (name, ...allowed) => ({
  name: `${name}-imports`,
  severity: "error",
  comment: `src/runtime/${name} may import ${allowed.join(", ") || "no other room"}`,
  from: { path: `^src/runtime/${name}/`, pathNot: TESTS },
  to: { path: "^src/", pathNot: [TESTING, "^src/shared/", ...[name, ...allowed].map((one) => `^src/runtime/${one}/`)] },
});

/** A wing may reach the named wings (and itself). */
const wing = (name, ...allowed) => ({
  name: `${name}-imports`,
  severity: "error",
  comment: `src/${name} may import ${allowed.join(", ") || "nothing else in src"}`,
  from: { path: `^src/${name}/`, pathNot: TESTS },
  to: { path: "^src/", pathNot: [name, ...allowed].map((one) => `^src/${one}/`) },
});

/** A room of the engine may reach the named rooms of it, the one that acts on what is the engine's own, and the executor if that is named. */
const engineRoom = (name, ...allowed) => ({
  name: `engine-${name}-imports`,
  severity: "error",
  comment: `src/engine/${name} may import ${allowed.join(", ") || "no other room of the engine"}`,
  from: { path: `^src/engine/${name}/`, pathNot: TESTS },
  to: {
    path: "^src/(engine|executor)/",
    pathNot: [name, "own", ...allowed].map((one) => (one === "executor" ? "^src/executor/" : `^src/engine/${one}/`)),
  },
});

module.exports = {
  forbidden: [
    {
      name: "no-circular",
      severity: "error",
      comment: "modules that need each other are one idea; an import of a type is one too",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-import-past-an-index",
      severity: "error",
      comment: "a room is entered by its index.ts, or by that of one of its folders",
      from: { path: "^src/runtime/([^/]+)/" },
      to: { path: "^src/runtime/", pathNot: ["^src/runtime/$1/", "/index\\.ts$"] },
    },
    {
      name: "shared-through-its-index",
      severity: "error",
      comment: "what all wings share is reached by the index.ts of its room",
      from: { path: "^src/(runtime|node|executor|engine|pod|client|runtd|runtctl)/" },
      to: { path: "^src/shared/", pathNot: "/index\\.ts$" },
    },
    {
      name: "pure-without-effects",
      severity: "error",
      comment: "spec, check, config, plan and value conversions touch neither the host nor Node",
      from: { path: [PURE, PURE_PARTS], pathNot: "\\.test\\.ts$" },
      to: {
        path: [
          "^runt:host$",
          "^src/runtime/(cli|verbs|prepare|execute|diagnostics|post-mortem|seccomp|network|criu|resctrl|state|isolation|host|trace)/",
        ],
        pathNot: [PURE_PARTS, TESTING],
      },
    },
    {
      name: "pure-without-node",
      severity: "error",
      comment: "the program runs in QuickJS: nothing of Node exists there",
      from: { path: "^src/", pathNot: ["^src/(node|executor|engine|pod|client|runtd|runtctl)/", "\\.test\\.ts$"] },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "zod-only-in-schemas",
      severity: "error",
      comment: "zod is for the build; the program has the generated validator",
      from: { path: "^src/", pathNot: ["^src/runtime/spec/schema/", "^src/(executor|engine|pod|runtd|runtctl)/"] },
      to: { path: "^(node_modules/)?zod", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "host-through-its-index",
      severity: "error",
      comment: "the host module is reached through src/runtime/host (the effect folders may name it directly)",
      from: { path: "^src/runtime/(cli|verbs|prepare|execute|diagnostics|post-mortem)/" },
      to: { path: "^runt:host$" },
    },
    wing("shared"),
    // What every wing on Node does in the same way.
    wing("node", "shared"),
    {
      name: "node-through-its-index",
      severity: "error",
      comment: "what every wing on Node does in the same way is reached by its index",
      from: { path: "^src/(executor|engine|pod|runtd|runtctl)/", pathNot: TESTS },
      to: { path: "^src/node/", pathNot: "/index\\.ts$" },
    },
    {
      name: "programs-by-their-runner",
      severity: "error",
      comment: "a program that ends soon is run by runProgram (src/node); these have streams with one as long as it lives, and say so",
      from: {
        path: "^src/",
        pathNot: [
          "^src/node/program\\.ts$",
          "^src/node/answering\\.ts$",
          "^src/executor/exec/handle\\.ts$",
          "^src/executor/runtime/client\\.ts$",
          "^src/engine/health/relay\\.ts$",
          "^src/engine/network/filter/table-watch\\.ts$",
          "^src/engine/network/namespace\\.ts$",
          "^src/runtd/notify\\.ts$",
          TESTS,
        ],
      },
      to: { path: "^(node:)?child_process$", dependencyTypesNot: ["type-only"] },
    },
    // It reaches the runtime by running it, as every other client; both know the same Linux.
    wing("executor", "node", "shared"),
    // It reaches the runtime by the executor's types and classes.
    wing("engine", "executor", "node", "shared"),
    // Files, directories and mounts of an executor are made and removed in the same way.
    engineRoom("own", "executor"),
    engineRoom("spec"),
    engineRoom("model", "spec"),
    engineRoom("plan", "spec", "model", "executor"),
    // It makes its directory.
    engineRoom("store", "executor"),
    engineRoom("cgroup", "executor"),
    // It sends logs to whom a task names.
    engineRoom("logs", "spec"),
    // It makes what the plan says.
    engineRoom("network", "spec", "plan"),
    // It asks from inside of a network.
    engineRoom("health", "spec", "network"),
    engineRoom("pause"),
    engineRoom("volumes"),
    // Its images are mounted for the users of a task by the runtime.
    engineRoom("users", "network", "pause", "volumes", "executor"),
    // Files with secrets are mounts in memory.
    engineRoom("secrets", "volumes"),
    engineRoom("images", "spec", "volumes", "secrets", "executor"),
    engineRoom(
      "run",
      "spec",
      "model",
      "plan",
      "store",
      "cgroup",
      "logs",
      "pause",
      "users",
      "volumes",
      "images",
      "network",
      "health",
      "secrets",
      "executor",
    ),
    // It makes tasks of what others write, and shows tasks as they do.
    wing("pod", "engine", "shared"),
    {
      name: "pod-decides-without-effects",
      severity: "error",
      comment: "pods and Compose files are translated without touching the host: of the engine only the text of tasks is used, and types",
      from: { path: "^src/pod/", pathNot: TESTS },
      to: { path: "^src/engine/", pathNot: "^src/engine/spec/index\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "pod-without-node",
      severity: "error",
      comment: "of Node it takes hashes only",
      from: { path: "^src/pod/", pathNot: TESTS },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?crypto$" },
    },
    {
      name: "pod-through-its-index",
      severity: "error",
      comment: "the daemon and its client reach pods by the index",
      from: { path: "^src/(runtd|runtctl)/", pathNot: TESTS },
      to: { path: "^src/pod/", pathNot: "^src/pod/index\\.ts$" },
    },
    // It reaches the daemon by its sockets, and has types of the engine only.
    wing("client", "engine", "shared"),
    {
      name: "client-without-engine",
      severity: "error",
      comment: "a program that only asks the daemon does not load the engine",
      from: { path: "^src/client/", pathNot: TESTS },
      to: { path: "^src/engine/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "client-protocol-without-node",
      severity: "error",
      comment: "what runtctl shares with the client for Node runs in QuickJS, too",
      from: { path: "^src/client/protocol/", pathNot: TESTS },
      to: { path: "^src/", pathNot: ["^src/client/protocol/", "^src/shared/"] },
    },
    // The programs come last, and no library knows them.
    wing("runtd", "engine", "pod", "node", "shared"),
    wing("runtctl", "engine", "pod", "client", "shared"),
    {
      name: "runtctl-by-the-protocol",
      severity: "error",
      comment: "runtctl has no Node: of the client it uses what needs none",
      from: { path: "^src/runtctl/", pathNot: TESTS },
      to: { path: "^src/client/", pathNot: "^src/client/protocol/index\\.ts$" },
    },
    {
      name: "programs-through-the-index",
      severity: "error",
      comment: "the daemon and its client use the engine as every other program does",
      from: { path: "^src/(runtd|runtctl)/", pathNot: TESTS },
      to: { path: "^src/engine/", pathNot: "^src/engine/index\\.ts$" },
    },
    {
      name: "client-without-node",
      severity: "error",
      comment: "runtctl is an executable with QuickJS, in which there is no Node",
      from: { path: "^src/(runtctl|client/protocol)/", pathNot: TESTS },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "client-asks-the-system-by-its-platform",
      severity: "error",
      comment: "what asks the system is in src/runtctl/platform",
      from: { path: "^src/runtctl/", pathNot: ["^src/runtctl/platform/", TESTS] },
      to: { path: "^runt:" },
    },
    {
      name: "client-platform-through-its-index",
      severity: "error",
      comment: "the platform has a stand-in in unit tests, which takes the place of its index",
      from: { path: "^src/runtctl/", pathNot: ["^src/runtctl/platform/", TESTS] },
      to: { path: "^src/runtctl/platform/", pathNot: "^src/runtctl/platform/index\\.ts$" },
    },
    {
      name: "no-engine-import-past-an-index",
      severity: "error",
      comment: "a room of the engine, and the executor, are entered by their index.ts",
      from: { path: "^src/engine/([^/]+)/", pathNot: TESTS },
      to: { path: "^src/(engine|executor)/", pathNot: ["^src/engine/$1/", "/index\\.ts$"] },
    },
    {
      name: "engine-decides-without-effects",
      severity: "error",
      comment: "spec, model and plan are pure: of Node they take hashes only",
      from: { path: "^src/engine/(spec|model|plan)/", pathNot: TESTS },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?crypto$" },
    },
    room("errors"),
    room("host"),
    room("spec", "errors"),
    room("config", "spec", "errors"),
    room("check", "config", "spec", "errors"),
    room("plan", "config", "spec", "errors"),
    room("cgroup", "config", "spec", "host", "errors"),
    room("network", "host", "errors"),
    room("state", "cgroup", "network", "plan", "host", "errors"),
    room("resctrl", "spec", "host", "errors"),
    room("criu", "spec", "host", "errors"),
    room("isolation", "network", "config", "spec", "plan", "cgroup", "resctrl", "state", "host", "errors"),
    {
      name: "isolation-by-its-index",
      severity: "error",
      comment: "verbs do not ask where a container runs, and know nothing of the processes of a machine",
      from: { path: "^src/runtime/", pathNot: ["^src/runtime/isolation/", TESTS] },
      to: { path: "^src/runtime/isolation/", pathNot: "^src/runtime/isolation/index\\.ts$" },
    },
    {
      name: "machine-processes-apart",
      severity: "error",
      comment:
        "the processes of a machine are a program of their own, which knows what it was told and nothing of a container's record or cgroup",
      from: { path: MACHINE_PROCESSES, pathNot: TESTS },
      to: {
        path: "^src/runtime/",
        pathNot: [TESTING, MACHINE_PROCESSES, "^src/runtime/isolation/(places|request)\\.ts$", "^src/runtime/(network|spec|host|errors)/"],
      },
    },
    {
      name: "verbs-without-machine-processes",
      severity: "error",
      comment: "what a verb has of the room of isolation begins those processes, and talks to them by what it tells them",
      from: { path: "^src/runtime/isolation/(index|derive|(asked|configurations|drivers|look)/)", pathNot: TESTS },
      to: { path: MACHINE_PROCESSES },
    },
    room("seccomp", "spec", "host", "errors"),
    room("trace", "plan", "host", "errors"),
    // Why a start has failed.
    room("post-mortem", "check", "spec", "plan", "host"),
    room("prepare", "isolation", "network", "check", "config", "spec", "plan", "cgroup", "state", "resctrl", "host", "errors"),
    room(
      "execute",
      "post-mortem",
      "isolation",
      "config",
      "spec",
      "plan",
      "cgroup",
      "seccomp",
      "network",
      "criu",
      "resctrl",
      "state",
      "host",
      "errors",
    ),
    room("diagnostics", "prepare", "execute", "check", "config", "spec", "plan", "cgroup", "state", "host", "errors"),
    room(
      "verbs",
      "prepare",
      "execute",
      "isolation",
      "check",
      "config",
      "spec",
      "plan",
      "cgroup",
      "network",
      "criu",
      "resctrl",
      "state",
      "host",
      "errors",
    ),
    {
      name: "verbs-without-verbs",
      severity: "error",
      comment: "what two verbs need stands in a room below them",
      from: { path: "^src/runtime/verbs/", pathNot: ["^src/runtime/verbs/index\\.ts$", "^src/runtime/verbs/[^/]+/index\\.ts$", TESTS] },
      to: { path: "^src/runtime/verbs/" },
    },
    room(
      "cli",
      "verbs",
      "diagnostics",
      "prepare",
      "execute",
      "isolation",
      "state",
      "trace",
      "check",
      "config",
      "spec",
      "plan",
      "host",
      "errors",
    ),
  ],
  options: {
    doNotFollow: { path: ["node_modules", "build"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".js", ".d.ts"] },
  },
};
