/** Manual of the verbs that change a container that exists. */
import type { VerbManual } from "./definition.ts";

export const CONTROL_MANUAL = {
  kill: {
    description: [
      "Sends a signal, by name (TERM, SIGTERM) or number, to the process of the container; TERM when none is named. With --all it goes to every " +
        "process in the container's cgroup, also when the first one has ended: a container without a pid namespace may leave processes behind.",
      "A cgroup is not the container's own if it existed before, or if another program has made it since. There only the process of the container " +
        "gets the signal, and a warning names the other processes.",
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
    description: [
      "Freezes the container's cgroup: no process of the container runs until resume. The cgroup must have a freezer. If a process has not stopped " +
        "after 10 seconds, or a signal ends the command before, all processes run again and the command fails.",
    ],
    examples: ["runt pause web"],
    seeAlso: ["resume", "kill"],
  },
  resume: {
    description: ["Thaws the cgroup of a paused container, so that its processes run again."],
    examples: ["runt resume web"],
    seeAlso: ["pause"],
  },
  update: {
    description: [
      "Changes limits of an existing container. All other limits stay as they are. If the kernel refuses one value, runt restores the values " +
        "that it has already changed: update changes all limits or none.",
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
      "Removes the state, the cgroups and other leftovers of a stopped container. With --force it kills a running one first, also removes leftovers of " +
        "an interrupted create, and succeeds without output for an id that does not exist.",
      "A cgroup is not the container's own if it existed before, or if another program has made it since. delete kills no process there and keeps the " +
        "cgroup; a warning names the processes in it, and the container is removed.",
    ],
    examples: ["runt delete web", "runt delete --force web", "# everything that tests have left", "runt delete --force --regex '^test-'"],
    seeAlso: ["kill", "list"],
  },
  gc: {
    description: [
      "Removes leftovers of interrupted commands: cgroups and units of containers whose state is lost, empty parent cgroups that runt has made, " +
        "and states of unfinished creates. gc recognises runt's cgroups by a mark, an extended attribute that create sets. The mark names " +
        "the state directory; gc lists cgroups of another --root, and leaves them alone.",
      "gc does not touch a container that has a state, running or stopped, nor a cgroup with a living process: it shows these as kept, with the pids. " +
        "It checks leftovers again a second later, so that it does not disturb a create in progress.",
      "If --root is not below the default state directory, gc only shows what it would remove, unless --yes is given, because a wrong directory is " +
        "easily named. The state directory has a mark, an extended attribute or the directory @runt, if runt made it or found it empty. There a " +
        "directory without a record counts as the state of a killed create if it is empty or has a damaged record. In a state directory without the mark " +
        "only a record that names the container counts. gc shows everything else as kept, with the reason.",
      "The mounts and namespaces of a container end with its last process, so gc need not collect them. It removes a half-made container as " +
        "delete --force does, with its poststop hooks. It lists processes in cgroups that runt did not create, and does not signal them.",
    ],
    examples: ["runt gc --dry-run", "runt gc", "runt --root /run/containerd/runc/k8s.io gc --yes -f json"],
    exitStatus: [["1", "a leftover could not be removed; the others are removed"]],
    seeAlso: ["delete", "list"],
  },
  mounts: {
    description: [
      "Adds mounts to a running container, or removes them, as crun does. FILE is JSON with a field mounts as in config.json. It can also be a " +
        "whole config.json or a bundle directory.",
      "add bind-mounts files and directories of the host into the container. It refuses every other type of mount, because the root user of the " +
        "host would have to make the new file system. remove unmounts the destinations in the file, the last one first. It refuses a destination with " +
        "a symbolic link in its path.",
      "Later mounts on the host below an added directory appear in the container; mounts in the container do not appear on the host. If one " +
        "mount fails, the earlier mounts of the file stay. A restarted container has only the mounts of its config.json.",
    ],
    examples: ["runt mounts add web mounts.json", "runt mounts remove web mounts.json"],
    seeAlso: ["exec", "update"],
  },
  service: {
    description: [
      "System calls for daemons that cannot make them, such as runtd(8). These commands do not act on containers.",
      "notify sends assignments, such as READY=1 or STATUS=text, to the socket NOTIFY_SOCKET of the environment (sd_notify(3)). It returns when the service " +
        "manager has received them. peer prints as JSON the process id, user and group of the peer of the unix socket that is its standard input.",
      "slice start makes a slice of the system's systemd with these properties, or sets them on an existing one. A property is NAME=VALUE with a value in " +
        "GVariant text. It returns when systemd has made the slice. slice stop removes the slice with everything in it.",
    ],
    examples: [
      "runt service notify READY=1 STATUS=working",
      "runt service peer",
      "runt service slice start tasks-web.slice 'MemoryMax=uint64 67108864'",
    ],
    exitStatus: [["1", "the manager did not answer within thirty seconds, or the standard input is not a unix socket"]],
  },
} as const satisfies Readonly<Record<string, VerbManual>>;
