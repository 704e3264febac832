/** The systemd that will be told: 252. Called only for what not every systemd knows, because the manager may have to be asked. */
export type Version = () => number;
