/** Manual pages of runtctl and runtd, made from what their command lines are made of. Pure: data in, text out. */
import type { Command, Option } from "commander";
import { programOf } from "../src/runtctl/program.ts";
import { VERBS } from "../src/runtctl/verbs/index.ts";
import { USAGE } from "../src/runtd/usage.ts";
import { heading, literal, page, paragraphs, terms } from "./man-text.ts";

const NEVER = () => {};

export function taskPages(version: string): ReadonlyMap<string, string> {
  return new Map([
    ["runtctl.1", clientPage(version)],
    ["runtd.8", daemonPage(version)],
  ]);
}

function clientPage(version: string): string {
  const program = programOf(VERBS, version, NEVER);
  return page({ name: "runtctl", section: 1, version, source: "src/runtctl" }, [
    ...heading("NAME", ["runtctl \\- client of runtd: groups of containers on this host"]),
    ...heading("SYNOPSIS", ["\\fBruntctl\\fR [options] \\fIcommand\\fR [command options] [arguments...]"]),
    ...heading(
      "DESCRIPTION",
      paragraphs([
        "Sends requests to runtd(8) over a unix socket, and shows its tasks. A task is a group of containers that start and stop together. A task file is YAML or JSON; runtctl schema prints its JSON Schema.",
      ]),
    ),
    ...heading("OPTIONS", options(program)),
    ...heading("COMMANDS", program.commands.filter((command) => VERBS.some(({ name }) => name === command.name())).flatMap(verbLines)),
    ...heading(
      "EXIT STATUS",
      terms([
        ["0", "success"],
        ["1", "the daemon refused the request, or it failed"],
        ["2", "the command line is wrong; runtctl did nothing"],
        ["3", "no daemon answers"],
        ["4", "plan --exit-code: applying the file would change something"],
        ["other", "exec, run and attach: exit status of the program"],
      ]),
    ),
    ...heading(
      "ENVIRONMENT",
      terms([
        ["RUNTD_SOCKET", "socket of the daemon, when neither --socket nor --run-dir names one"],
        ["RUNT_IMAGES", "default registry or directory for image names without a registry, in Compose files and for validate"],
        ["NO_COLOR", "not empty: no colours"],
      ]),
    ),
    ...heading(
      "FILES",
      terms([
        [
          "/run/runtd/admin.sock, /run/runtd/read.sock",
          "sockets of the daemon; a user who may not open the first one uses the second, which can only read",
        ],
      ]),
    ),
    ...heading("SEE ALSO", [".BR runtd\\-task (5),", ".BR runtd (8),", ".BR runt (8)"]),
  ]);
}

function verbLines(command: Command): string[] {
  const operands = command.registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? "..." : ""}`;
    return one.required ? `<${name}>` : `[${name}]`;
  });
  return [
    `.SS ${literal(["runtctl", command.name(), ...(command.options.length > 0 ? ["[options]"] : []), ...operands].join(" "))}`,
    ...paragraphs(command.description().split("\n\n")),
    ...options(command),
  ];
}

function options(command: Command): string[] {
  return terms(command.options.map((option: Option) => [option.flags, option.description] as const));
}

/** "  --flag VALUE   text", and lines that go on with more blanks before them. */
export function optionsIn(usage: string): (readonly [string, string])[] {
  const found: [string, string][] = [];
  for (const line of usage.split("\n\n").slice(1).join("\n\n").split("\n")) {
    const [, flags, text] = /^ {2}(-\S.*?)(?: {2,}(.*))?$/.exec(line) ?? [];
    if (flags !== undefined) found.push([flags, text ?? ""]);
    else if (found.length > 0) found.at(-1)![1] = `${found.at(-1)![1]} ${line.trim()}`.trim();
  }
  return found;
}

function daemonPage(version: string): string {
  return page({ name: "runtd", section: 8, version, source: "src/runtd" }, [
    ...heading("NAME", ["runtd \\- run groups of containers on this host, through any crash"]),
    ...heading("SYNOPSIS", [
      "\\fBruntd\\fR [options]",
      ".br",
      "\\fBruntd\\fR \\-\\-once \\-f \\fIFILE\\fR [options]",
      ".br",
      "\\fBruntd\\fR \\-\\-check\\-config [\\-\\-config \\fIFILE\\fR] [options]",
      ".br",
      "\\fBruntd migrate\\fR \\-\\-to \\fIVERSION\\fR [\\-\\-state\\-dir \\fIDIR\\fR] [\\-\\-config \\fIFILE\\fR]",
    ]),
    ...heading(
      "DESCRIPTION",
      paragraphs([
        "Runs tasks: groups of containers with dependencies, health checks, restarts and limits. It brings each task to its requested state. runtctl(1) is its " +
          "client. Containers are not child processes of runtd. They go on if runtd is killed, and the next runtd finds them again with their true exit status.",
        "SIGTERM and SIGINT end runtd; its containers go on. It writes its log to the standard error, as one JSON object a line. It tells systemd when it is ready, that it goes on, and when it ends (Type=notify, WatchdogSec=), and takes sockets that systemd has opened (socket activation).",
        "Each setting is an option, or a field of the configuration file: the name of the option in camel case, such as imageGcKeep for --image-gc-keep. runtd --config-schema prints all of them.",
      ]),
    ),
    ...heading("OPTIONS", terms(optionsIn(USAGE))),
    ...heading(
      "EXIT STATUS",
      terms([
        ["0", "a signal ended runtd; migrate: success"],
        [
          "1",
          "runtd could not start: another daemon uses the state directory or the sockets, the program runt was not found, or the store cannot be read; --once: no task was started; migrate: nothing was changed",
        ],
        ["64", "the command line is wrong"],
        ["78", "the configuration file is wrong, or users other than root may write it"],
        [
          "other",
          "--once: exit status of the first essential container that ended; 128 + N after signal N; 141 if its output has lost its reader; 255 if it is unknown",
        ],
      ]),
    ),
    ...heading(
      "FILES",
      terms([
        ["/etc/runt/runtd.json", "configuration"],
        ["/etc/default/runtd", "environment variables of the service, and options of the command line in RUNTD_OPTS"],
        ["/run/runtd/admin.sock", "every user who may connect has the rights of root"],
        ["/run/runtd/interlink.sock", "with --interlink: socket for interLink, which sends pods of a cluster"],
        ["/run/runtd/read.sock", "read-only socket for the group runtd-read; it does not show the values of environment variables"],
        ["/var/lib/runtd", "store, containers and logs"],
        ["/var/lib/runtd/engine.db.backup", "a checked copy of the store, at most ten minutes old"],
        ["/var/lib/runtd/engine.db.version-N", "the store before its last migration from version N"],
      ]),
    ),
    ...heading(
      "ENVIRONMENT",
      terms([
        ["RUNT_BINARY", "path of the program runt, if the package does not contain it"],
        [
          "RUNT_IMAGES",
          "default registry or directory for image names without a registry, such as oci:/srv/images or docker://registry.example/library",
        ],
        ["RUNT_POD_SIZES", "file with the sizes that pods may have; without it, a pod gets the resources that it asks for"],
        ["RUNT_SECCOMP_PROFILES", "directory of the seccomp profiles that pods name as localhostProfile; default /var/lib/kubelet/seccomp"],
        ["NOTIFY_SOCKET, WATCHDOG_USEC", "set by the service manager, see sd_notify(3) and sd_watchdog_enabled(3)"],
        [
          "LISTEN_FDS, LISTEN_PID, LISTEN_FDNAMES",
          "set by the service manager for sockets with the names admin, read and interlink, see sd_listen_fds(3)",
        ],
      ]),
    ),
    ...heading("SEE ALSO", [
      ".BR runtctl (1),",
      ".BR runtd.json (5),",
      ".BR runtd\\-task (5),",
      ".BR runt (8),",
      ".BR systemd.service (5)",
    ]),
  ]);
}
