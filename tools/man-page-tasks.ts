/** Manual pages of runtctl and runtd, made from what their command lines are made of. Pure: data in, text out. */
import type { Command, Option } from "commander";
import { programOf } from "../src/runtctl/program.ts";
import { VERBS } from "../src/runtctl/verbs/index.ts";
import { USAGE } from "../src/runtd/config.ts";
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
        "Asks runtd(8) over a unix socket to run tasks, and shows them. A file of tasks is YAML or JSON; runtctl schema describes it.",
      ]),
    ),
    ...heading("OPTIONS", options(program)),
    ...heading("COMMANDS", program.commands.filter((command) => VERBS.some(({ name }) => name === command.name())).flatMap(verbLines)),
    ...heading(
      "EXIT STATUS",
      terms([
        ["0", "done"],
        ["1", "the daemon refused it, or it did not work"],
        ["2", "the command line is wrong; nothing was done"],
        ["3", "no daemon answers"],
        ["4", "plan --exit-code: applying the file would change something"],
        ["other", "exec: that of the program"],
      ]),
    ),
    ...heading(
      "ENVIRONMENT",
      terms([
        ["RUNTD_SOCKET", "socket of the daemon, when neither --socket nor --run-dir names one"],
        ["RUNT_IMAGES", "where images of Compose files, and of pods that are validated, are looked for whose names say no registry"],
        ["NO_COLOR", "not empty: no colours"],
      ]),
    ),
    ...heading(
      "FILES",
      terms([["/run/runtd/admin.sock, /run/runtd/read.sock", "the sockets; who may not open the first reads from the second"]]),
    ),
    ...heading("SEE ALSO", [".BR runtd (8),", ".BR runt (8)"]),
  ]);
}

function verbLines(command: Command): string[] {
  const operands = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`));
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
function optionsIn(usage: string): (readonly [string, string])[] {
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
      "\\fBruntd migrate\\fR \\-\\-to \\fIVERSION\\fR [\\-\\-state\\-dir \\fIDIR\\fR]",
    ]),
    ...heading(
      "DESCRIPTION",
      paragraphs([
        "Drives tasks to what is wanted of them: containers with dependencies, health checks, restarts and limits. runtctl(1) is its client. Containers are no " +
          "children of it: it may be killed at any moment, they go on, and the next one finds them again with their true exit status.",
        "SIGTERM and SIGINT end it; its containers go on. Its log is one JSON object a line on the standard error. Under systemd it says when it is ready (Type=notify).",
      ]),
    ),
    ...heading("OPTIONS", terms(optionsIn(USAGE))),
    ...heading(
      "EXIT STATUS",
      terms([
        ["0", "it was ended by a signal; migrate: done"],
        [
          "1",
          "it could not start: another daemon has the state directory or the sockets, no runt was found, the store cannot be read; with --once nothing was begun; migrate: nothing was changed",
        ],
        ["64", "the command line is wrong"],
        ["other", "--once: that of the essential container which has ended first; 128 + N after signal N; 255 when nobody saw the end"],
      ]),
    ),
    ...heading(
      "FILES",
      terms([
        ["/run/runtd/admin.sock", "whoever may connect can do what root can"],
        ["/run/runtd/interlink.sock", "with --interlink: for interLink, which sends pods of a cluster"],
        ["/run/runtd/read.sock", "for the group runtd-read: changes nothing, and shows no values of environments"],
        ["/var/lib/runtd", "store, containers and logs"],
        ["/var/lib/runtd/engine.db.backup", "a copy of the store that was found whole, ten minutes old at most"],
        ["/var/lib/runtd/engine.db.version-N", "the store before it was last brought from version N to another one"],
      ]),
    ),
    ...heading(
      "ENVIRONMENT",
      terms([
        ["RUNT_BINARY", "the program runt, when the package has none"],
        [
          "RUNT_IMAGES",
          "where images are looked for whose names say no registry, like oci:/srv/images or docker://registry.example/library",
        ],
        ["RUNT_POD_SIZES", "a file with the sizes that pods may have; without it they have what they ask for"],
        ["RUNT_SECCOMP_PROFILES", "directory of the filters that pods name as localhostProfile; without it /var/lib/kubelet/seccomp"],
        ["NOTIFY_SOCKET", "sd_notify(3)"],
      ]),
    ),
    ...heading("SEE ALSO", [".BR runtctl (1),", ".BR runt (8),", ".BR systemd.service (5)"]),
  ]);
}
