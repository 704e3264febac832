/** What a container was asked to be: from the config.json that create has kept. */
import { type ContainerConfig, deriveConfig, destinationsInRoot } from "../../config/index.ts";
import * as host from "../../host/index.ts";
import { parseSpec } from "../../spec/index.ts";
import { configPath, type StateRecord } from "../../state/index.ts";

/** undefined: nothing was kept, by an older version or because create has not come that far. */
export function keptConfig(root: string, { id, bundle }: Pick<StateRecord, "id" | "bundle">): ContainerConfig | undefined {
  let text: string;
  try {
    text = host.readOwn(configPath(root, id));
  } catch (error) {
    if (host.isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  return configOf(text, bundle);
}

/** As create derives it, without its checks. */
export function configOf(text: string, bundle: string): ContainerConfig {
  const spec = parseSpec(text, host.needsExactParser(text));
  return deriveConfig(destinationsInRoot(spec, bundle)?.spec ?? spec, { bundle });
}
