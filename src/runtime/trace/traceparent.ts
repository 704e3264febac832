/** The environment's TRACEPARENT: the trace that this call is a part of (W3C Trace Context, level 1, section 3.2). Pure. */

export interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
  /** Bit 0: the caller records too. */
  readonly flags: number;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** undefined for what is no valid value, which is to be ignored. Later versions may have more fields behind. */
export function parseTraceParent(text: string | undefined): TraceParent | undefined {
  const [, version, traceId = "", parentId = "", flags = "", rest] = FORM.exec(text ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, flags: Number.parseInt(flags, 16) };
}
