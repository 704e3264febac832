/** Why an image could not be had. */

export type ImageErrorCode =
  /** A program is not installed; the message names its package. */
  | "program-missing"
  /** The source did not give it. */
  | "pull-failed"
  | "pull-timeout"
  /** Nobody wants it any more. */
  | "cancelled"
  /** What was got is not what its description says, or no image. */
  | "image-invalid"
  /** It is larger than this host allows, or does what no image may. */
  | "image-refused"
  /** Of another architecture, or packed in a way that nobody here can unpack. */
  | "image-unsupported"
  /** It is not in the store. */
  | "unknown-image"
  /** A container is made of it. */
  | "image-in-use";

export class ImageError extends Error {
  override readonly name = "ImageError";
  readonly code: ImageErrorCode;

  constructor(code: ImageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
