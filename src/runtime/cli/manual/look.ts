/** Manual of the verbs that show what is, or what would be. */
import type { VerbManual } from "./definition.ts";

export const LOOK_MANUAL = {
  state: {
    description: [
      "Prints the state of a container as JSON. The OCI runtime specification describes the document; it also has the fields that runc adds. " +
        "The fields are ociVersion, id, pid, status, bundle, rootfs, created, owner and annotations. status is creating, created, running, paused or " +
        "stopped. pid is 0 if the container is stopped.",
    ],
    examples: ["runt state web", "runt state web | jq -r .status"],
    seeAlso: ["list", "ps"],
  },
  list: {
    description: [
      "Lists the containers of the state directory. A container whose record cannot be read is listed as unreadable, with the reason in the " +
        "column of the bundle; delete --force removes it.",
      "JSON is an array of states. Without containers it is null, as with runc.",
    ],
    examples: ["runt list", "runt list -f json", "# ids only, for a shell loop", "runt list -q"],
    seeAlso: ["state"],
  },
  ps: {
    description: [
      "Shows the processes in the cgroup of a container. It runs the ps of the host, with -ef or with the given options; the output must have " +
        "the PID column. If the host has no ps, or if the container runs in a virtual machine, runt prints rows like those of ps -ef, with times in UTC. " +
        "JSON is an array of the pids on the host.",
    ],
    examples: ["runt ps web", "runt ps web -o pid,comm", "runt ps --format json web"],
    seeAlso: ["list", "events"],
  },
  events: {
    description: [
      "Prints one JSON object a line. Every interval, an object shows the use of CPU, memory, pids, block I/O, huge pages and intelRdt. An object " +
        "of type oom follows each time the kernel kills a process of the container for lack of memory. events ends with the container. With --stats it " +
        "prints the statistics once and ends. The table has the memory in use and its limit, CPU time, processes, and bytes read from and written to " +
        "block devices.",
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
      "Writes an example config.json that runs a shell in ./rootfs. If the file exists, spec fails and does not change it. " +
        "With --rootless the file maps the calling user to root of the container.",
    ],
    examples: ["runt spec", "runt spec --rootless -b /bundles/new"],
    seeAlso: ["plan", "run"],
  },
  completion: {
    description: [
      "Prints the completion script of a shell. It completes commands, flags, their values, and the ids of containers. make install and the " +
        "Debian package install it; the examples are for a program that was copied without it.",
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
