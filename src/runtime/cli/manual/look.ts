/** Manual of the verbs that show what is, or what would be. */
import type { VerbManual } from "./definition.ts";

export const LOOK_MANUAL = {
  state: {
    description: [
      "Prints the state of a container as the OCI runtime specification describes it, with the fields runc adds: ociVersion, id, pid, status, " +
        "bundle, rootfs, created, owner and annotations. status is creating, created, running, paused or stopped; pid is 0 when it is stopped.",
    ],
    examples: ["runt state web", "runt state web | jq -r .status"],
    seeAlso: ["list", "ps"],
  },
  list: {
    description: [
      "Lists the containers of the state directory. A container whose record cannot be read is listed as unreadable, with the reason in the " +
        "place of the bundle; delete --force removes it.",
      "JSON is an array of states, or null when there are none, as with runc.",
    ],
    examples: ["runt list", "runt list -f json", "# ids only, for a shell loop", "runt list -q"],
    seeAlso: ["state"],
  },
  ps: {
    description: [
      "Shows the processes in the cgroup of a container, with the ps of the host and its options (-ef unless some are given; the PID column " +
        "must be among those shown). Without a ps, and of a container in a machine, rows like those of -ef, times in UTC. JSON is an array of the " +
        "pids, as the host numbers them.",
    ],
    examples: ["runt ps web", "runt ps web -o pid,comm", "runt ps --format json web"],
    seeAlso: ["list", "events"],
  },
  events: {
    description: [
      "Prints one JSON object a line: every interval what the container uses (CPU, memory, pids, block I/O, huge pages, intelRdt), and an " +
        "object of type oom each time the kernel kills in it for memory. It ends with the container. With --stats it prints one and ends. The " +
        "table has the memory in use and its limit, CPU time, processes, and bytes read from and written to block devices.",
    ],
    examples: ["runt events web", "runt events --stats web", "runt events --interval 500ms web", "runt events --format table web"],
    seeAlso: ["ps", "update"],
  },
  features: {
    description: [
      "Prints the features document of the OCI runtime specification: versions of the specification, mount options, namespaces, " +
        "capabilities, cgroup drivers, seccomp actions and architectures. It says what this build can do, not what the kernel of this host allows.",
    ],
    examples: ["runt features", "runt features --format table", "runt features | jq .linux.namespaces"],
    seeAlso: ["spec"],
  },
  spec: {
    description: [
      "Writes a config.json that runs a shell in ./rootfs, to begin with. An existing file is left alone: that is an error. " +
        "With --rootless it maps the calling user to root of the container.",
    ],
    examples: ["runt spec", "runt spec --rootless -b /bundles/new"],
    seeAlso: ["plan", "run"],
  },
  completion: {
    description: [
      "Prints the completion of a shell for verbs, flags, their values, and the ids of containers. make install and the Debian package put it " +
        "where the shells look for it; the examples are for a copy of the program alone.",
    ],
    examples: [
      "# in ~/.bashrc",
      'eval "$(runt completion bash)"',
      "# in ~/.zshrc, behind compinit",
      "source <(runt completion zsh)",
      "runt completion fish > ~/.config/fish/completions/runt.fish",
    ],
  },
} as const satisfies Readonly<Record<string, VerbManual>>;
