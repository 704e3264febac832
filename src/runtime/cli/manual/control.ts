/** Manual of the verbs that change a container that exists. */
import type { VerbManual } from "./definition.ts";

export const CONTROL_MANUAL = {
  kill: {
    description: [
      "Sends a signal, by name (TERM, SIGTERM) or number, to the process of the container; TERM when none is named. With --all it goes to every " +
        "process in the container's cgroup, also when the first one has ended already: what is left of a container without a pid namespace.",
      "In a cgroup that is not the container's own (it was there before, or somebody else has made it since) the signal goes to the process of the " +
        "container alone; a warning names who else is there.",
      "With --cgroup it goes to every process in that cgroup below the container's own, and below that one (exec --cgroup puts processes there): those of " +
        "them that are the container's by the same rule. KILL is repeated until none of them is left, for five seconds at most.",
      "Otherwise it does not wait. The container keeps its state, as stopped, until delete.",
      "With --regex the id is a regular expression, and the signal goes to every container that runs and whose id it matches anywhere.",
    ],
    examples: [
      "runt kill web",
      "runt kill web KILL",
      "runt kill --all web 9",
      "runt kill --cgroup freezer:/job web KILL",
      "runt kill --regex '^test-' KILL",
    ],
    seeAlso: ["delete", "pause"],
  },
  pause: {
    description: ["Freezes the container's cgroup: no process of it runs until resume. It needs a cgroup with a freezer."],
    examples: ["runt pause web"],
    seeAlso: ["resume", "kill"],
  },
  resume: {
    description: ["Thaws the cgroup of a paused container."],
    examples: ["runt resume web"],
    seeAlso: ["pause"],
  },
  update: {
    description: [
      "Changes limits of a container that exists. Limits that are not named stay as they are. When the kernel refuses one value, the ones " +
        "already written are put back: all or none.",
      "With --resources the limits come from a JSON document as in linux.resources of config.json, and the flags for single limits are ignored.",
    ],
    examples: [
      "runt update --memory 64m --pids-limit 100 web",
      "# half a CPU",
      "runt update --cpu-period 100000 --cpu-quota 50000 web",
      "runt update --resources - web < limits.json",
    ],
    seeAlso: ["events", "ps"],
  },
  delete: {
    description: [
      "Removes the state, the cgroups and what else is left of a stopped container. With --force it kills a running one first, also removes what " +
        "an interrupted create has left, and says nothing about an id that does not exist.",
      "Nobody is killed in a cgroup that is not the container's own: it was there before, or somebody else has made it since. That is left as it is, " +
        "a warning names who is in it, and the container is removed.",
    ],
    examples: ["runt delete web", "runt delete --force web", "# whatever is left of tests", "runt delete --force --regex '^test-'"],
    seeAlso: ["kill", "list"],
  },
  gc: {
    description: [
      "Removes what killed calls have left: cgroups and units of containers whose state is lost, empty cgroups above them that runt has made, and " +
        "states of containers whose create did not come to an end. A cgroup counts as one of runt's by the mark (an extended attribute) that create has left, " +
        "which names the state directory: those of another --root are listed, and left alone.",
      "A container that has a state is never touched, stopped or not, and nothing in which a process lives: that is shown as kept, with the pids. " +
        "What looks like remains is looked at again a second later, so that no create under way is disturbed.",
      "With a --root that is not below the default state directory gc only shows what it would remove, unless --yes is given: a wrong directory is " +
        "soon named. A directory without a record counts as the state of a create that was killed only if it is empty or has a damaged record, and only in " +
        "a state directory with the mark of runt's: an extended attribute (or the directory @runt) that runt leaves where it has made the state directory " +
        "or found it empty. In one without the mark it takes a record that names the container. Everything else is shown as kept, with the reason.",
      "The mounts and namespaces of a container end with its last process, so there are none to collect. A half-made container is removed as " +
        "delete --force does it, with its poststop hooks; who is in a cgroup that is not its own is named, and left alone.",
    ],
    examples: ["runt gc --dry-run", "runt gc", "runt --root /run/containerd/runc/k8s.io gc --yes -f json"],
    exitStatus: [["1", "something could not be removed; the others are"]],
    seeAlso: ["delete", "list"],
  },
  mounts: {
    description: [
      "Changes the mounts of a container that runs, as crun does. The file is JSON with a field mounts as in config.json (a whole config.json will " +
        "do, and so will a bundle directory). add binds files and directories of the host into the container; nothing else can be added, since a new " +
        "file system would be made by the host's root. remove unmounts what is mounted at the destinations, the last one first; there a path with a symbolic link in it is refused.",
      "Mounts below an added one follow the host's but never reach it. What stood in the file before a mount that failed stays done. A restart of " +
        "the container begins with the mounts of its config.json.",
    ],
    examples: ["runt mounts add web mounts.json", "runt mounts remove web mounts.json"],
    seeAlso: ["exec", "update"],
  },
  service: {
    description: [
      "What a daemon asks for that cannot make these system calls itself, as runtd(8). It has nothing to do with containers.",
      "notify sends the assignments, as READY=1 or STATUS=text, to the socket NOTIFY_SOCKET of the environment (sd_notify(3)), and returns when the service " +
        "manager has taken them. peer prints the process id, user and group of who has connected the unix socket that is the standard input, as JSON.",
      "slice start makes a slice of the system's systemd with these properties, each as NAME=VALUE with a value in GVariant text, and gives them to one that is " +
        "there already; it returns when systemd has it. slice stop removes it, with whatever is in it.",
    ],
    examples: [
      "runt service notify READY=1 STATUS=working",
      "runt service peer",
      "runt service slice start tasks-web.slice 'MemoryMax=uint64 67108864'",
    ],
    exitStatus: [["1", "the manager has not taken it within thirty seconds, or the standard input is no unix socket"]],
  },
} as const satisfies Readonly<Record<string, VerbManual>>;
