import { pointerToken } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** config, annotations: keys should be named after a domain in reverse, so that nobody else means something by them. */
export const annotationNames: Check = ({ annotations }, report) => {
  for (const key of Object.keys(annotations ?? {})) {
    if (key === "" || key.includes(".")) continue;
    report.advice("annotation-name", `/annotations/${pointerToken(key)}`, `"${key}" is not named after a domain, as in com.example.${key}`);
  }
};
