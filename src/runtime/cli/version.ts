import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { OCI_VERSION_MAX } from "../spec/index.ts";
import { print } from "./output.ts";

/** Called as `runc` the program says so: clients of that name look for it. */
export function calledName(): "runc" | "runt" {
  return (host.argv()[0] ?? "").replace(/^.*\//, "") === "runc" ? "runc" : "runt";
}

/** Called as `runc`, errors of create and run begin as runc's: "runc create failed: ". Those of exec begin as its own under any name. */
export function inCalledName(error: RuntError, verb: string): RuntError {
  if (error.code === "usage" || (verb !== "create" && verb !== "run") || calledName() !== "runc") return error;
  return new RuntError(error.code, `runc ${verb} failed: ${error.message}`, error.details);
}

/**
 * Lines as runc prints them, in its order: tools parse them. Called as `runc` it says so in the first line, because clients of that
 * name look for "runc version "; a line of its own then tells whose version it is (docs/decisions/0024-names.md).
 */
export function printVersion(): number {
  const name = calledName();
  const really = name === "runt" ? "" : "program: runt\n";
  print(`${name} version ${host.build.version}\ncommit: ${host.build.commit}\nspec: ${OCI_VERSION_MAX}\n${really}`);
  return 0;
}
