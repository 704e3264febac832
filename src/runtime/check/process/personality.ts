import { PERSONALITY_DOMAINS } from "../../../shared/linux/index.ts";
import type { Check } from "../finding.ts";

const BASE = "/linux/personality";

/** config-linux, personality: a known domain, and no flag, for none is defined. */
export const personality: Check = ({ linux }, report) => {
  const asked = linux?.personality;
  if (!asked) return;
  const { domain, flags } = asked;
  if (!domain || !Object.hasOwn(PERSONALITY_DOMAINS, domain))
    report.error(
      "personality-domain",
      `${BASE}/domain`,
      domain ? `linux.personality: unknown domain "${domain}"` : "linux.personality.domain: required but missing",
      `one of ${Object.keys(PERSONALITY_DOMAINS).join(", ")}`,
    );
  flags?.forEach((flag, index) => {
    report.error("personality-flag", `${BASE}/flags/${index}`, `linux.personality: flag "${flag}" is not supported, no flag is`);
  });
};
