/** Health checks of containers by HTTP and TCP. */
export { type Checked, type Probe, probeHttp, probeTcp } from "./probe.ts";
