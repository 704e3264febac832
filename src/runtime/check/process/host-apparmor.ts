import { closeNames } from "../../spec/index.ts";
import type { HostCheck } from "../host/host-check.ts";

const PROFILES = "/sys/kernel/security/apparmor/profiles";

/** apparmor(7): the profile is loaded. */
export const apparmorProfile: HostCheck = ({ process }, report, { view }) => {
  const profile = process?.apparmorProfile;
  if (!profile || profile === "unconfined" || !view.live) return;
  const text = view.text(PROFILES);
  if (text === undefined) return;
  const names = text.split("\n").map((line) => line.replace(/ \([a-z]+\)$/, ""));
  if (names.includes(profile)) return;
  const close = closeNames(profile, names);
  const meant = close.length > 0 ? `; did you mean ${close.join(" or ")}?` : "";
  report.error("apparmor-profile", "/process/apparmorProfile", `the profile "${profile}" is not loaded${meant}`);
};
