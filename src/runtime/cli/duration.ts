const MILLISECONDS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1e3, m: 6e4, h: 3.6e6 };

/** A duration as Go writes it ("100ms", "1m30s", "1.5h") in milliseconds; undefined when it is none. */
export function parseDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  const [, sign, parts] = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/.exec(text) ?? [];
  if (parts === undefined) return undefined;
  let total = 0;
  for (const [, number = "", unit = ""] of parts.matchAll(/(\d+\.?\d*|\.\d+)([a-zµμ]+)/g))
    total += Number(number) * (MILLISECONDS[unit] ?? 0);
  return sign === "-" ? -total : total;
}
