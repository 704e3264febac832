import * as host from "../../host/index.ts";
import { featuresDocument } from "../../spec/features.ts";
import type { Verb } from "../context.ts";
import { print } from "../output.ts";

export const verb: Verb = () => {
  print(`${JSON.stringify(featuresDocument(host.build), null, 4)}\n`);
  return 0;
};
