/** Manual of the verbs that make a container or a process in it. */
import type { VerbManual } from "./definition.ts";

export const START_MANUAL = {
  create: {
    description: [
      "Makes the namespaces, cgroups, mounts and devices that the bundle's config.json asks for, and a process in them that waits. " +
        "start lets this process execute the program of the container.",
      "The standard streams of runt become those of the container. With process.terminal, --console-socket names the unix socket that " +
        "receives the terminal; the process of runt itself always ends.",
      "If config.json asks for something impossible, create refuses it before it changes anything, and names the field. If a later step fails, " +
        "create removes everything that it has made. --dry-run prints the plan and does nothing.",
      "With --exit-record a process stays with the container, as with run --detach --exit-record. It writes how the container ended, and removes the " +
        "container. The phase in the file is created until the container ends, also after start.",
      "With --isolation vm, create boots a virtual machine for the container. /etc/runt/vm.json, or the file in RUNT_VM_CONFIG, names the programs " +
        "and the image of the machine. If runt is called through a link with the name runt-vm, this is the default.",
    ],
    examples: ["runt create -b /bundles/web web", "# what would be done", "runt create --dry-run -b /bundles/web web"],
    seeAlso: ["start", "run", "delete", "plan"],
  },
  start: {
    description: [
      "Lets the process of a created container execute its program. If the program cannot be executed, start fails and names the reason: a " +
        "missing interpreter or loader, another architecture, or no permission.",
      "A container is a template if its config.json has the annotation io.runt.template. For a template, create prepares everything except the " +
        "process, and start --process FILE gives it: a process document like that of exec. FILE may be /dev/fd/N. The annotation is true, or a list of " +
        "the fields that may differ from config.json: args, env, cwd, consoleSize, rlimits and files. rlimits can only be lowered; the library writes " +
        "files. Every other field of the document must be as in config.json. Without --process, start uses the process of config.json. claim.json in " +
        "the state directory records the process. If start is killed before it is done, the container can only be deleted.",
      "With NOTIFY_SOCKET in the environment of create and start, the container gets its own notification socket (sd_notify(3)). start then returns " +
        "when the program sends READY=1 to this socket, or when it ends. runt forwards READY=1 to the socket of the caller.",
    ],
    examples: ["runt start web", "# start a template with this process", "runt start --process process.json box"],
    seeAlso: ["create", "run"],
  },
  run: {
    description: [
      "Creates and starts a container. In the foreground it waits for the end of the container, forwards signals and the terminal, and removes the " +
        "container. It ends with the exit status of the program. With --detach it returns as soon as the program runs.",
      "With --detach and --exit-record a process of less than a megabyte, the monitor, stays with the container in its own session. It survives the " +
        "caller, keeps the reading ends of stdout and stderr if those are FIFOs, removes the container at its end, and writes the file. The file is one " +
        "JSON object with id, monitor, pid, startTicks, phase (creating, running, ended, exited), code, signal, oomKills, startedMs and endedMs. In the " +
        "phase ended, parts of the container may still exist, and unread output is in FILE.stdout and FILE.stderr. If the file was removed or replaced " +
        "meanwhile, the monitor does not write it again. With --resize-fifo it also reads lines ROWS COLUMNS, such as 40 100, from the FIFO and sets the " +
        "size of the container's terminal; other lines have no effect. With --deadline-fifo it reads lines MILLISECONDS from the FIFO and kills the container " +
        "when so much time has passed since the last one; 0 means no deadline, and other lines have no effect. So the deadline also holds when the process that has " +
        "set it is dead.",
      "With --output-log a second process writes the output of the pipes at stdout and stderr into a file, a record TIME STREAM F|P BYTES for each " +
        "line (F) or part of a line (P), and rotates the file. If that process is killed, another one replaces it, and no line is lost. On a full disk " +
        "lines are dropped and counted; the next record says how many. FILE.log beside the exit record has the numbers. Everything is in the log before the phase is exited.",
      "In the foreground, the container is removed before the rest of its terminal's output has been read. When runt then waits for a reader, or for " +
        "a poststop hook, for two seconds or more, TERM, INT, HUP or QUIT ends the waiting. runt names on stderr what it could not remove.",
    ],
    examples: [
      "runt run -b /bundles/hello hello",
      "# in the background",
      "runt run -d --pid-file web.pid -b /bundles/web web",
      "# in the background, and its exit status later",
      "runt run -d --exit-record web.json -b /bundles/web web",
      "# leave state and cgroup for a later delete",
      "runt run --keep -b /bundles/job job",
    ],
    exitStatus: [
      ["status of the program", "in the foreground; 128 + the signal when one killed it"],
      ["1", "runt could not run the container, or the program ended with 1"],
    ],
    seeAlso: ["create", "start", "delete"],
  },
  exec: {
    description: [
      "Runs a further process in a running container: in its namespaces and its cgroup, as its user and with its environment unless flags say " +
        "otherwise. Flags of runt stand before the id; what follows the id belongs to the command.",
      "Without --detach it waits for the end of the process and ends with its status.",
      "With --tty one of runt's own standard streams is a terminal, whose size the new one follows. With --resize-fifo none of them has to be: stdin and " +
        "stdout may be pipes. The size is that of --console-size, and then that of each line ROWS COLUMNS, as 40 100, that comes from the FIFO.",
      "--timeout bounds the time from the start of runt until the program runs, not the time of the program. After that time runt kills only the process " +
        "that it has sent into the container. Without --timeout, exec gives up if another process keeps that process stopped for 10 s, or if it makes no " +
        "progress for 60 s. TERM, INT and HUP before the program runs end exec in the same way.",
    ],
    examples: [
      "runt exec web ps",
      "runt exec -t -e TERM=xterm web sh",
      "runt exec -u 1000:1000 --cwd /srv web id",
      "# as engines do it: the process is described in a file",
      "runt exec -d --pid-file p --process process.json web",
    ],
    exitStatus: [
      ["status of the process", "in the foreground; 128 + the signal when one killed it"],
      ["255", "runt could not start the process, or not in time"],
    ],
    seeAlso: ["run", "ps"],
  },
} as const satisfies Readonly<Record<string, VerbManual>>;
