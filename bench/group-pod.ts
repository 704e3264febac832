/** The pod that both sides of bench/engine-group.ts bring up: it waits for two containers that do something once, in order. */
const INIT = 2;
const MAIN = 8;

export const INIT_NAMES = names("init", INIT);
export const MAIN_NAMES = names("main", MAIN);
/** Files that are there when all containers have begun. */
export const MARKS: readonly string[] = [...INIT_NAMES, ...MAIN_NAMES];

/** Of the first container. */
export const PORT = { host: 18_080, container: 80 };
/** What a container does after it has made its file. */
export const SCRIPT = { init: "true", main: "trap 'exit 0' TERM; sleep 100000 & wait $!" };

export interface PodPlace {
  /** As the side names it. */
  readonly image: string;
  /** Directory of the host, in which each container makes a file when it runs. */
  readonly shared: string;
}

export const POD = "group";

/** Both take JSON where they take YAML. */
export function groupPod({ image, shared }: PodPlace): string {
  const container = (name: string, script: string, more: object = {}) => ({
    name,
    image,
    imagePullPolicy: "Never",
    command: ["sh", "-c", `touch /shared/${name}; ${script}`],
    volumeMounts: [{ name: "shared", mountPath: "/shared" }],
    ...more,
  });
  const port = { ports: [{ containerPort: PORT.container, hostPort: PORT.host }] };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: POD },
    spec: {
      restartPolicy: "Never",
      initContainers: INIT_NAMES.map((name) => container(name, SCRIPT.init)),
      containers: MAIN_NAMES.map((name, at) => container(name, SCRIPT.main, at === 0 ? port : {})),
      volumes: [{ name: "shared", hostPath: { path: shared } }],
    },
  });
}

function names(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${kind}${at}`);
}
