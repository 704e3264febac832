/** Health checks of containers by HTTP, TCP and gRPC, and the connections that they make. */
export type { Checked, Probe } from "./connection.ts";
export { probeGrpc } from "./grpc.ts";
export { probeHttp, probeHttps, probeTcp } from "./probe.ts";
export { closed, type Relay, type RelayTarget, relayIn, type StartRelay } from "./relay.ts";
