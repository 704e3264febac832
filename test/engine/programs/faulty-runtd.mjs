/**
 * The daemon as it is built, which ends itself by SIGKILL at one point of its engine: RUNTD_FAULT="STAGE ACTION N", when it is there for the Nth time
 * (src/engine/run/probe.ts).
 */
import { configurationOf, valuesOf } from "../../../dist/runtd/config.js";
import { serve } from "../../../dist/runtd/serve.js";

const [stage, action, count] = process.env["RUNTD_FAULT"].split(" ");
let left = Number(count);

await serve(configurationOf(valuesOf(process.argv.slice(2))), {
  probe(at, of) {
    if (at === stage && of === action && --left === 0) process.kill(process.pid, "SIGKILL");
  },
});
