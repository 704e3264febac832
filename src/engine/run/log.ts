/** Log events of the engine for its host program. They never contain environment, arguments or output of a container. */
export type EngineLog = (level: "info" | "error", event: string, facts?: Readonly<Record<string, unknown>>) => void;
