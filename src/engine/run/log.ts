/** What the engine tells the program around it, for its log. Never environment, arguments or output of a container. */
export type EngineLog = (level: "info" | "error", event: string, facts?: Readonly<Record<string, unknown>>) => void;
