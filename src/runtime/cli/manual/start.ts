/** Manual of the verbs that make a container or a process in it. */
import type { VerbManual } from "./definition.ts";

export const START_MANUAL = {
  create: {
    description: [
      "Makes everything the bundle's config.json asks for (namespaces, cgroups, mounts, devices, user) and a process in it that waits. " +
        "The program of the container runs when start is called.",
      "The standard streams of runt become those of the container. With process.terminal, --console-socket names the unix socket that " +
        "receives the terminal; the process of runt itself always ends.",
      "A config.json that asks for something that cannot be is refused with the name of the field before anything is changed, and what was " +
        "made before a failure is removed again. --dry-run prints the plan and does nothing.",
      "With --exit-record a process stays with the container, as run --detach --exit-record has it: it writes how the container ended, and removes it. " +
        "The phase in the file is created then, also after start, until the container ends.",
      "With --isolation vm the container runs in a virtual machine of its own, which create boots. /etc/runt/vm.json, or the file that RUNT_VM_CONFIG " +
        "names, says of which programs and which image it is made. A link runt-vm to runt has that as its default.",
    ],
    examples: ["runt create -b /bundles/web web", "# what would be done", "runt create --dry-run -b /bundles/web web"],
    seeAlso: ["start", "run", "delete", "plan"],
  },
  start: {
    description: [
      "Lets the process of a created container execute its program. It fails when that program cannot be executed, with the reason: a " +
        "missing interpreter or loader, another architecture, no permission.",
      "A container whose config.json has the annotation io.runt.template is a template: create prepares everything but its process, and --process gives " +
        "that, a process document as exec takes it; FILE may be /dev/fd/N. The annotation is true, or a list of what may be another one than in config.json: args, env, " +
        "cwd, consoleSize, rlimits (which can only be tightened) and files (which the library writes). Whatever else the document names must be as it is there. " +
        "Without --process the process of config.json is started. claim.json in the state says what was started; a start that is killed in between leaves a " +
        "container that can only be deleted.",
      "With NOTIFY_SOCKET in the environment of create and start, the container has a notification socket of its own (sd_notify(3)), and start " +
        "returns when the program has said READY=1 there, which is told to the socket of the caller, or has ended.",
    ],
    examples: ["runt start web", "# of a template", "runt start --process process.json box"],
    seeAlso: ["create", "run"],
  },
  run: {
    description: [
      "create and start in one. In the foreground it waits for the end of the container, forwards signals and the terminal, removes the " +
        "container and ends with the status of its program. With --detach it returns as soon as the program runs.",
      "With --detach and --exit-record a process of less than a megabyte, the monitor, stays with the container in its own session. It survives the " +
        "caller, keeps the reading ends of stdout and stderr if those are FIFOs, removes the container at its end, and writes the file. The file is one " +
        "JSON object with id, monitor, pid, startTicks, phase (creating, running, ended, exited), code, signal, oomKills, startedMs and endedMs. In the " +
        "phase ended, parts of the container may still exist, and unread output is in FILE.stdout and FILE.stderr. If the file was removed or replaced " +
        "meanwhile, the monitor does not write it again. With --resize-fifo it also reads lines ROWS COLUMNS, such as 40 100, from the FIFO and sets the " +
        "size of the container's terminal; other lines have no effect.",
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
