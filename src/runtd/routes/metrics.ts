import { exposition, METRICS_TYPE } from "../http/exposition.ts";
import { textRoute } from "../http/route.ts";
import { samplesOf } from "./samples.ts";

export const getMetrics = textRoute({
  method: "get",
  path: "/v1/metrics",
  operation: "getMetrics",
  access: "read",
  summary: "Numbers, as Prometheus reads them",
  answer: { status: 200, description: "Text exposition", type: METRICS_TYPE },
  respond: ({ engine, timings, eventLoop, context }) =>
    context.body(exposition(samplesOf(engine, timings, eventLoop)), 200, { "content-type": METRICS_TYPE }),
});
