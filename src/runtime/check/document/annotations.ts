import { findAll, roleOf } from "../../config/index.ts";
import { pointerToken } from "../../spec/index.ts";
import type { Check } from "../finding.ts";

/** config, annotations: a key is not empty. */
export const annotationKeys: Check = ({ annotations }, report) => {
  if (annotations && Object.hasOwn(annotations, ""))
    report.error("annotation-key-empty", "/annotations/", "annotations: a key must not be empty");
};

/** An engine for Kubernetes says what it makes: a sandbox or a container. Other words are none of its own. */
export const containerType: Check = ({ annotations }, report) => {
  if (!annotations) return;
  const [found] = findAll(annotations, "typeKey");
  if (found && roleOf(found.value) === undefined)
    report.error("container-type", `/annotations/${pointerToken(found.key)}`, `unknown container type "${found.value}"`);
};
