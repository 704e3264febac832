import { pointerToken } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** config, annotations: keys should begin with a reversed domain, so that no other program uses the same ones. */
export const annotationNames: Check = ({ annotations }, report) => {
  for (const key of Object.keys(annotations ?? {})) {
    if (key === "" || key.includes(".")) continue;
    report.advice("annotation-name", `/annotations/${pointerToken(key)}`, `"${key}" is not named after a domain, as in com.example.${key}`);
  }
};
