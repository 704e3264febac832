import { type Finding, renderFinding, warningsOf } from "../../engine/index.ts";
import { type PodHost, parseFile } from "../../pod/index.ts";
import { EXIT } from "../errors.ts";
import { cpuCount, hostname, memoryBytes, print, printError, variable } from "../platform/index.ts";
import { verb } from "../verb.ts";
import { addClusterOption, type ClusterOption } from "./apply-options.ts";
import { imageName } from "./build.ts";
import { addComposeOptions, fileToApply } from "./compose.ts";
import { addFileOption, type ComposeFlags, type FileOption, type FileToApply } from "./file.ts";

export const validate = verb<FileOption & ComposeFlags & ClusterOption>({
  name: "validate",
  summary: "report all errors of a file, with line and column; needs no daemon",
  define(command) {
    addFileOption(command);
    addComposeOptions(command);
    addClusterOption(command);
  },
  async run(_, __, options) {
    const file = fileToApply(options, undefined, { mayBeEmpty: true, mayLack: true });
    return file === undefined ? EXIT.failed : validated(file, { ...podHost(), ignoresClusterFields: options.ignoreClusterFields === true });
  },
});

/** Prints the errors of a file. Returns the exit status. */
function validated({ source, text, isProject, builds = [], origin = (one) => one }: FileToApply, host: PodHost): number {
  if (isProject && text === "") {
    print(`${source}: no services: no errors`);
    return EXIT.done;
  }
  const { tasks, pools = [], findings: all, warnings: told = [] } = parseFile(text, host);
  const findings = all.filter((one) => isProject || !mayBeElsewhere(one));
  const missing = all.filter((one) => !findings.includes(one));
  const warnings = [
    ...told,
    ...missing.map((one) => ({ ...one, message: `${one.message}: runtctl apply refuses it, unless another -f has it` })),
  ];
  for (const finding of findings) printError(renderFinding(origin(finding), source));
  for (const { message, ...finding } of warnings) printError(renderFinding({ ...finding, message: `warning: ${message}` }, source));
  for (const { service, request } of builds)
    print(`${source}: ${service}: its image ${imageName(request)} is built from ${request.context}`);
  for (const warning of warningsOf(tasks)) printError(`${source}: warning: ${warning}`);
  if (findings.length === 0) {
    const names = [...tasks.map(({ name }) => name), ...pools.map(({ name }) => `pool ${name}`)];
    print(`${source}: ${missing.length > 0 ? "what is there" : names.join(", ") || "no tasks"}: no errors`);
  }
  return findings.length === 0 ? EXIT.done : EXIT.failed;
}

/** A cluster takes pods before the objects that they name, which are often in files of their own. */
function mayBeElsewhere({ code, message }: Finding): boolean {
  return code === "unknown-reference" && /^the file has no (?:ConfigMap|Secret|ServiceAccount) /.test(message);
}

/** Facts about this host that pods may refer to, as far as they are known without a daemon. */
function podHost(): PodHost {
  return { name: hostname().toLowerCase(), cpus: cpuCount(), memoryBytes: memoryBytes(), images: variable("RUNT_IMAGES") || undefined };
}
