/** Errors of images. */
import { cut } from "../../shared/text/index.ts";

export type ImageErrorCode =
  /** A program is not installed; the message names its package. */
  | "program-missing"
  /** The source failed to deliver the image. */
  | "pull-failed"
  | "pull-timeout"
  /** The registry has stopped taking the image. */
  | "push-failed"
  /** The builder failed, or exceeded its time limit. */
  | "build-failed"
  /** The credentials for the registry are missing. */
  | "no-credentials"
  /** The pull was cancelled, because no caller waits for it any more. */
  | "cancelled"
  /** The content does not match its digest or description, or is no image. */
  | "image-invalid"
  /** The image is larger than this host allows, or has forbidden entries. */
  | "image-refused"
  /** The image is of another architecture, or in a format that this host cannot unpack. */
  | "image-unsupported"
  /** The store does not have the image. */
  | "unknown-image"
  /** A container uses the image. */
  | "image-in-use"
  /** Others use the store, and what needs it alone has waited for as long as it may. */
  | "store-busy";

export class ImageError extends Error {
  override readonly name = "ImageError";
  readonly code: ImageErrorCode;

  /** @param message is cut: images and registries may have texts of any length in it */
  constructor(code: ImageErrorCode, message: string, options?: ErrorOptions) {
    super(cut(message), options);
    this.code = code;
  }
}
