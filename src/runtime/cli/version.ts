import { RuntError } from "../errors/index.ts";
import { criuWorks } from "../execute/index.ts";
import * as host from "../host/index.ts";
import { OCI_VERSION_MAX } from "../spec/index.ts";
import { print } from "./output.ts";

/** Called as `runc` the program says so: clients of that name look for it. */
export function calledName(): "runc" | "runt" {
  return (host.argv()[0] ?? "").replace(/^.*\//, "") === "runc" ? "runc" : "runt";
}

/**
 * Called as `runc`, errors of create and run are runc's: "runc create failed: ", and behind it where runc is when it meets them. Those of exec begin
 * as its own under any name.
 */
export function inCalledName(error: RuntError, verb: string): RuntError {
  if ((verb !== "create" && verb !== "run") || calledName() !== "runc") return error;
  // The command line itself is refused before anything fails.
  if (error.code === "usage" && error.details.pointer === undefined) return error;
  const message = error.message.replace(" if runt will", " if runc will");
  const place = message.startsWith(STARTING) ? "" : (PLACES[error.code] ?? "");
  return new RuntError(error.code, `runc ${verb} failed: ${place}${message}`, error.details);
}

const STARTING = "unable to start container process: ";
/** By code. */
const PLACES: Readonly<Record<string, string>> = {
  hook: `${STARTING}error during container init: `,
  cgroup: `${STARTING}unable to apply cgroup configuration: `,
};

/**
 * Lines as runc prints them, in its order: tools parse them. Called as `runc` it says so in the first line, because clients of that
 * name look for "runc version "; a line of its own then tells whose version it is (docs/decisions/0024-names.md).
 */
export function printVersion(): number {
  const name = calledName();
  const really = name === "runt" ? "" : "program: runt\n";
  const features = versionFeatures();
  print(`${name} version ${host.build.version}\ncommit: ${host.build.commit}\nspec: ${OCI_VERSION_MAX}\n${features}${really}`);
  return 0;
}

/** What `--version` says of the programs that runt works with, in crun's form: empty, or a line. */
function versionFeatures(): string {
  return criuWorks() ? "+CRIU\n" : "";
}
