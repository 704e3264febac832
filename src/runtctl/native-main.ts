/**
 * The client as one executable (tools/bundle-native-client.ts). What is imported here is evaluated at every start; what is loaded by import() stands in the engine
 * image as it is after its evaluation (docs/decisions/0007-engine-image.md).
 */
import { build } from "runt:client";
import { run } from "./platform/native/loop.ts";
import { exit } from "./platform/native/output.ts";
import { words } from "./platform/native/process.ts";

type Program = typeof import("./command.ts");

// The executable loads modules at once, and leaves the result on the promise (tools/bundle/chunks.ts).
const { command } = (import("./command.ts") as Promise<Program> & { readonly loaded: Program }).loaded;

// What it cannot tell itself (no memory for it) still ends with a status that says so.
void command(words(), build.version).then(exit, () => exit(1));
run();
