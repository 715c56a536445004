import { AwsV4Signer } from "aws4fetch"
import { Effect, Redacted } from "effect"
import { createHash } from "node:crypto"

/** Credentials and region of a signature. */
interface Signer {
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted<string>
  readonly region: string
}

/** A request to sign, with all its headers except the host, which is in the URL. */
interface Signable {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** SHA-256 of the body, as `sha256` returns it. */
  readonly bodyHash: string
}

export const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex")

/** Percent-encodes all but letters, digits and `-._~` (RFC 3986), as the signature requires. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

/** Formats a time as `20130524T000000Z`. */
const stamp = (at: Date): string => at.toISOString().replace(/[-:]|\.\d{3}/g, "")

/**
 * Returns the signed headers of a request to S3: AWS Signature Version 4, by aws4fetch, of which nothing else is used.
 * Amazon's own client takes 22 MB, and brings its own connections, clocks and delays, where ours are bounded and
 * guarded.
 */
export const signed = (
  { accessKeyId, region, secretAccessKey }: Signer,
  { bodyHash, headers, method, url }: Signable,
  at: Date
): Effect.Effect<Readonly<Record<string, string>>> =>
  Effect.promise(async () => {
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": bodyHash },
      accessKeyId,
      secretAccessKey: Redacted.value(secretAccessKey),
      service: "s3",
      region,
      datetime: stamp(at),
      allHeaders: true
    })
    return Object.fromEntries((await signer.sign()).headers)
  })
