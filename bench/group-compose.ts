/** The Compose file of bench/engine-group.ts: as many services as the pod has containers (bench/group-pod.ts), which wait for each other in the same order. */
import { INIT_NAMES, MAIN_NAMES, PORT, SCRIPT } from "./group-pod.ts";

/** Name of the project. */
export const PROJECT = "bench";

/** The variable of the environment in which each side says what it calls the image, so that both get the same file. */
export const IMAGE_VARIABLE = "IMAGE";

/** @param shared directory of the host, in which each service makes a file when it runs */
export function groupCompose(shared: string): string {
  const service = (name: string, after: string | undefined, main: boolean) => ({
    image: `\${${IMAGE_VARIABLE}}`,
    pull_policy: "never",
    // A dollar of the script is written twice, as Compose replaces variables.
    command: ["sh", "-c", `touch /shared/${name}; ${main ? SCRIPT.main : SCRIPT.init}`.replaceAll("$", "$$$$")],
    volumes: [`${shared}:/shared`],
    ...(after === undefined ? {} : { depends_on: { [after]: { condition: "service_completed_successfully" } } }),
    ...(name === MAIN_NAMES[0] ? { ports: [`${PORT.host}:${PORT.container}`] } : {}),
  });
  const inits = INIT_NAMES.map((name, at) => [name, service(name, INIT_NAMES[at - 1], false)]);
  const mains = MAIN_NAMES.map((name) => [name, service(name, INIT_NAMES.at(-1), true)]);
  return JSON.stringify({ name: PROJECT, services: Object.fromEntries([...inits, ...mains]) });
}
