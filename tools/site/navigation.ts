/** The navigation of the site: a part for each kind of reader, and below it the pages in the order in which they are read. */

export interface Part {
  readonly title: string;
  /** Of the home page. */
  readonly summary: string;
  /** Beginnings of the paths of its pages, relative to the root of the site. The longest one that fits a page decides. */
  readonly places: readonly string[];
  readonly groups: readonly Group[];
}

export interface Group {
  readonly title: string;
  /** Title and page, relative to the root of the repository. */
  readonly pages: readonly (readonly [string, string])[];
}

export const PARTS: readonly Part[] = [
  {
    title: "Operators",
    summary: "Put runt in the place of runc or crun with one line of configuration, and take it back the same way.",
    places: ["/"],
    groups: [
      {
        title: "Begin",
        pages: [
          ["Overview", "README.md"],
          ["Five questions", "docs/questions.md"],
          ["runt from a shell", "docs/shell.md"],
          ["Comparison", "comparison.md"],
        ],
      },
      {
        title: "Under an engine",
        pages: [
          ["Switching, and back", "docs/switching.md"],
          ["containerd", "docs/engines/containerd.md"],
          ["Kubernetes", "docs/engines/kubernetes.md"],
          ["CRI-O", "docs/engines/cri-o.md"],
          ["Podman", "docs/engines/podman.md"],
          ["Docker", "docs/engines/docker.md"],
          ["Buildah", "docs/engines/buildah.md"],
          ["Results of the scenarios", "docs/engines/results.md"],
          ["Annotations of engines", "docs/kata-annotations.md"],
        ],
      },
      {
        title: "On the host",
        pages: [
          ["Cgroups", "docs/cgroups.md"],
          ["Virtual machines", "docs/vm.md"],
          ["Security", "docs/security.md"],
          ["Identity of what runt touches", "docs/identity.md"],
          ["Security policy", "SECURITY.md"],
        ],
      },
      {
        title: "Messages",
        pages: [
          ["Troubleshooting", "docs/troubleshooting.md"],
          ["Findings", "docs/findings.md"],
        ],
      },
    ],
  },
  {
    title: "Engine users",
    summary: "Run groups of containers, Compose files and Kubernetes pods on one host, under a daemon that may be killed.",
    places: ["/docs/engine.", "/docs/engine/"],
    groups: [
      {
        title: "Tasks",
        pages: [
          ["The task engine", "docs/engine.md"],
          ["Images", "docs/engine/images.md"],
          ["Networks", "docs/engine/network.md"],
          ["Secrets and variables", "docs/engine/secrets.md"],
          ["Rollouts", "docs/engine/rollouts.md"],
          ["Pools for untrusted code", "docs/engine/pools.md"],
          ["The daemon as a service", "docs/engine/service.md"],
          ["Files of a watched directory", "docs/engine/watch.md"],
          ["Sockets and rights", "docs/engine/doors.md"],
          ["Interface", "docs/engine/interface.md"],
          ["Identity of what it touches", "docs/engine/identity.md"],
        ],
      },
      {
        title: "Compose, pods, Quadlet",
        pages: [
          ["Compose files", "docs/engine/compose.md"],
          ["Fields of Compose files", "docs/engine/compose-fields.md"],
          ["Pods of Kubernetes", "docs/engine/pods.md"],
          ["Fields of pods", "docs/engine/pod-fields.md"],
          ["Pods of a cluster", "docs/engine/interlink.md"],
          ["Quadlet files", "docs/engine/quadlet.md"],
          ["Beside Podman and Compose", "docs/engine/podman-differences.md"],
        ],
      },
      {
        title: "Behaviour",
        pages: [
          ["Overview", "docs/engine/behaviour.md"],
          ["Life", "docs/engine/behaviour/life.md"],
          ["Containers", "docs/engine/behaviour/containers.md"],
          ["Limits", "docs/engine/behaviour/limits.md"],
          ["Pods", "docs/engine/behaviour/pods.md"],
          ["Daemon", "docs/engine/behaviour/daemon.md"],
          ["Rollouts", "docs/engine/behaviour/rollouts.md"],
        ],
      },
    ],
  },
  {
    title: "TypeScript",
    summary: "Start containers from your program, keep their exit status when it is killed, and run untrusted code.",
    places: ["/docs/library/", "/api/", "/docs/executor-behaviour", "/docs/editor"],
    groups: [
      {
        title: "Library",
        pages: [
          ["Containers from TypeScript", "docs/library/README.md"],
          ["Sandboxes", "docs/library/sandboxes.md"],
          ["A client of the daemon", "docs/library/client.md"],
          ["Reference of the types", "api/index.md"],
          ["Behaviour of the executor", "docs/executor-behaviour.md"],
          ["Schemas in editors", "docs/editor.md"],
        ],
      },
      {
        title: "Examples",
        pages: [
          ["Run with limits", "docs/library/run-with-limits.mjs"],
          ["Streams", "docs/library/stream-output.mjs"],
          ["Further processes", "docs/library/spawn.mjs"],
          ["Deadlines", "docs/library/exec-deadline.mjs"],
          ["Live statistics", "docs/library/live-stats.mjs"],
          ["After a kill", "docs/library/adopt.mjs"],
          ["After a kill, all of them", "docs/library/adopt-all.mjs"],
          ["A task", "docs/library/engine-job.mjs"],
          ["An engine that restarts", "docs/library/engine-restart.mjs"],
          ["Asking a daemon", "docs/library/client.mjs"],
          ["Untrusted code", "docs/library/sandbox.mjs"],
          ["Validate in a test", "docs/library/validate-bundle.mjs"],
        ],
      },
    ],
  },
  {
    title: "Reference",
    summary: "The manual, every requirement of the specification with its test, and how fast each verb is.",
    places: [
      ...[
        "/man/",
        "/docs/performance",
        "/docs/startup",
        "/docs/conformance",
        "/docs/plan-branches",
        "/docs/decisions/",
        "/docs/architecture",
      ],
      ...["/docs/development", "/CHANGELOG", "/CONTRIBUTING", "/RELEASING", "/LICENSE", "/NOTICE"],
    ],
    groups: [
      {
        title: "Manual",
        pages: [
          ["All pages", "man/index.md"],
          ["runt(8)", "man/runt.8"],
          ["runtctl(1)", "man/runtctl.1"],
          ["runtd(8)", "man/runtd.8"],
          ["runtd-task(5)", "man/runtd-task.5"],
          ["runtd.json(5)", "man/runtd.json.5"],
          ["runt-vm(5)", "man/runt-vm.5"],
        ],
      },
      {
        title: "Measured",
        pages: [
          ["Performance", "docs/performance.md"],
          ["Performance on cgroup v1", "docs/performance/v1.md"],
          ["Performance of tasks", "docs/performance/tasks.md"],
          ["Before and after a rewrite", "docs/performance/rooms.md"],
          ["How a start is fast", "docs/startup.md"],
          ["Conformance", "docs/conformance.md"],
          ["Branches of the operations", "docs/plan-branches.md"],
        ],
      },
      {
        title: "Project",
        pages: [
          ["Changelog", "CHANGELOG.md"],
          ["Architecture", "docs/architecture.md"],
          ["Development", "docs/development.md"],
          ["Decisions", "docs/decisions/index.md"],
          ["Contributing", "CONTRIBUTING.md"],
          ["Releasing", "RELEASING.md"],
          ["Licence", "LICENSE"],
          ["Notice", "NOTICE"],
        ],
      },
    ],
  },
];

/** The part of a page, relative to the root of the repository. */
export function partOf(page: string): Part {
  const fitting = PARTS.flatMap((part) => part.places.filter((place) => `/${page}`.startsWith(place)).map((place) => ({ part, place })));
  return fitting.reduce((longest, one) => (one.place.length > longest.place.length ? one : longest)).part;
}
