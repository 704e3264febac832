import type { Check } from "./finding.ts";

/** config, annotations: a key is not empty. */
export const annotationKeys: Check = ({ annotations }, report) => {
  if (annotations && Object.hasOwn(annotations, ""))
    report.error("annotation-key-empty", "/annotations/", "annotations: a key must not be empty");
};
