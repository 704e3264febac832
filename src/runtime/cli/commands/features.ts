import { RuntError } from "../../errors/index.ts";
import { hasCriu } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import { featuresDocument } from "../../spec/index.ts";
import { text, type Verb } from "../context.ts";
import { featuresTable } from "../features-table.ts";
import { print } from "../output.ts";

export const verb: Verb = ({ flags }) => {
  const format = text(flags["format"]) ?? "json";
  if (format !== "table" && format !== "json") throw new RuntError("usage", `invalid format option: ${format} (use table or json)`);
  const document = featuresDocument(host.build, { criu: hasCriu() });
  if (format === "json") print(`${JSON.stringify(document, null, 4)}\n`);
  else print(featuresTable(document));
  return 0;
};
