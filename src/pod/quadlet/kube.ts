/** Files ".kube": they name files with Kubernetes objects. Source: podman-systemd.unit(5), "Kube units". */
import { absolute } from "../compose/paths.ts";
import type { Unit } from "./unit.ts";

/** A file with Kubernetes objects. */
export interface KubeText {
  readonly source: string;
  readonly text: string;
}

/** Its files, those with ConfigMaps last. @param readFile throws the error of open(2) or read(2) */
export function kubeTexts(unit: Unit, directory: string, readFile: (path: string) => Uint8Array): KubeText[] {
  const files = [...unit.texts("Kube", "Yaml"), ...unit.texts("Kube", "ConfigMap")];
  if (unit.texts("Kube", "Yaml").length === 0) unit.refuse("needs Yaml");
  return files.flatMap(({ text, entry }) => {
    const source = absolute(directory, text);
    try {
      return [{ source, text: Buffer.from(readFile(source)).toString() }];
    } catch (error) {
      unit.refuse(`${source} cannot be read: ${(error as Error).message}`, entry);
      return [];
    }
  });
}
