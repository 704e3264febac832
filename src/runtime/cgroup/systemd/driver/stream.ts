import * as host from "../../../host/index.ts";

/** A byte stream to a peer, and the clock its time limits are measured with. */
export interface Stream {
  send(bytes: Uint8Array): void;
  /** What has arrived; nothing at the end. @throws HostError ETIMEDOUT */
  receive(timeoutMs: number): Uint8Array;
  /** Milliseconds. */
  now(): number;
  close(): void;
}

/** Who listens, as this process's PID and user namespaces have it; pid 0: a process that is in neither this nor a PID namespace below. */
export interface Peer {
  readonly pid: number;
  readonly uid: number;
}

/** @throws HostError */
export function openStream(path: string): Stream & { peer(): Peer } {
  const fd = host.connect(path);
  return {
    send: (bytes) => host.write(fd, bytes.slice().buffer as ArrayBuffer),
    receive: (timeoutMs) => new Uint8Array(host.receive(fd, timeoutMs)),
    now: host.monotonic,
    peer: () => host.peerCredentials(fd),
    close: () => host.close(fd),
  };
}
