/**
 * Entry of `bin/runt`. What is imported here is evaluated at every start; what is loaded by import() stands in the engine
 * image as it is after its evaluation (docs/decisions/0007-engine-image.md).
 */
import { argv, exit } from "../host/index.ts";

// What main itself could not report (no memory for it) still ends with a status that says so.
void import("./program.ts").then(({ main }) => main(argv().slice(1))).then(exit, () => exit(1));
