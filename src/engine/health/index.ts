/** Health checks of containers by HTTP, TCP and gRPC. */
export { probeGrpc } from "./grpc.ts";
export { probeHttps } from "./https.ts";
export { type Checked, type Probe, probeHttp, probeTcp } from "./probe.ts";
