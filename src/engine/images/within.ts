/** Time limits of pulls. */
import { ImageError } from "./errors.ts";

/** `action` is told to end after so many milliseconds, or when `outer` is. @throws ImageError pull-timeout; the reason of `outer`; what `action` throws */
export async function within<T>(ms: number, outer: AbortSignal, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new ImageError("pull-timeout", `PullTimeout: it was not there within ${ms / 1000} s`)),
    ms,
  );
  const end = () => controller.abort(outer.reason);
  outer.addEventListener("abort", end);
  if (outer.aborted) end();
  try {
    return await action(controller.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", end);
  }
}
