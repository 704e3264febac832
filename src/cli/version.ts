import * as host from "../host/index.ts";
import { OCI_VERSION_MAX } from "../spec/version.ts";
import { print } from "./output.ts";

/** Lines as runc prints them, in its order: tools parse them. */
export function printVersion(): number {
  print(`runt version ${host.build.version}\ncommit: ${host.build.commit}\nspec: ${OCI_VERSION_MAX}\n`);
  return 0;
}
