/** What the API server refuses of a container, and what no schema of one field can tell. */
import { quantityIn } from "../quantity.ts";
import type { ContainerInput } from "../schema/container.ts";
import type { Path, Translation } from "./translation.ts";

/** Source: IsValidPortName of Kubernetes (RFC 6335, "Service Name Syntax"). */
const PORT_NAME = /^(?=.*[a-z])(?!.*--)[a-z0-9](?:[a-z0-9-]{0,13}[a-z0-9])?$/;

/** Source: ValidateContainers of Kubernetes. */
export function checkContainer(at: Translation, { ports, volumeMounts, resources }: ContainerInput, path: Path): void {
  const names = new Set<string>();
  for (const [index, { name }] of ports.entries()) {
    // The API server takes an empty name for none.
    if (!name) continue;
    const here: Path = [...path, "ports", index, "name"];
    if (!PORT_NAME.test(name)) at.refuse("is no name of a port: at most 15 of a-z, 0-9 and -, with a letter", here);
    if (names.has(name)) at.refuse(`the port ${name} is there twice`, here, "duplicate-name");
    names.add(name);
  }
  const places = new Set<string>();
  for (const [index, { mountPath }] of volumeMounts.entries()) {
    if (places.has(mountPath)) at.refuse(`something is mounted on ${mountPath} already`, [...path, "volumeMounts", index, "mountPath"]);
    places.add(mountPath);
  }
  for (const [what, requested] of amountsOf(resources?.requests)) {
    const limit = new Map(amountsOf(resources?.limits)).get(what);
    // The engine compares memory, with the amounts in its words.
    const scale = what === "cpu" ? 1000 : 1;
    if (what !== "memory" && limit !== undefined && quantityIn(requested, scale) > quantityIn(limit, scale))
      at.refuse(`is more than the limit (${limit})`, [...path, "resources", "requests", what]);
  }
}

function amountsOf(given: Readonly<Record<string, unknown>> | undefined): [string, string | number][] {
  return Object.entries(given ?? {}).filter((one): one is [string, string | number] => ["string", "number"].includes(typeof one[1]));
}
