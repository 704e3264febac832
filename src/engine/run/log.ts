/** Log events of the engine, for the program that runs it. They never contain the environment, arguments or output of a container. */
export type EngineLog = (level: "info" | "error", event: string, facts?: Readonly<Record<string, unknown>>) => void;
