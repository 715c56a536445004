import { Redacted } from "effect"
import { createHash, createHmac } from "node:crypto"

/** Who signs, and for which region of which service. */
interface Signer {
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted<string>
  readonly region: string
}

/** A request to sign. All its headers are signed, so that `host` has to be among them; names are in lower case. */
interface Signable {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** SHA-256 of the body, as `sha256` gives it. */
  readonly bodyHash: string
}

export const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex")

const hmac = (key: Uint8Array | string, text: string) => createHmac("sha256", key).update(text).digest()

/** RFC 3986 percent-encoding, as the signature wants it: all but letters, digits and `-._~`. */
export const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`)

/** `20130524T000000Z` */
export const stamp = (at: Date): string => at.toISOString().replace(/[-:]|\.\d{3}/g, "")

const compare = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0

/**
 * The `Authorization` header of a request to S3: AWS Signature Version 4 ("Authenticating Requests: Using the
 * Authorization Header"). Unlike other services S3 takes paths as they stand, encoded once.
 */
export const authorization = (
  { accessKeyId, region, secretAccessKey }: Signer,
  { bodyHash, headers, method, url }: Signable,
  at: Date
): string => {
  const names = Object.keys(headers).sort(compare)
  const query = Array.from(url.searchParams, ([name, value]) => [encoded(name), encoded(value)] as const)
    .sort(([a, one], [b, other]) => compare(a, b) || compare(one, other))
    .map(([name, value]) => `${name}=${value}`)
  const signedHeaders = names.join(";")
  const canonical = [
    method,
    url.pathname,
    query.join("&"),
    ...names.map((name) => `${name}:${headers[name]?.trim().replace(/ +/g, " ") ?? ""}`),
    "",
    signedHeaders,
    bodyHash
  ].join("\n")

  const day = stamp(at).slice(0, 8)
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ["AWS4-HMAC-SHA256", stamp(at), scope, sha256(canonical)].join("\n")
  const key = [region, "s3", "aws4_request"].reduce<Uint8Array>(
    hmac,
    hmac(`AWS4${Redacted.value(secretAccessKey)}`, day)
  )
  const signature = createHmac("sha256", key).update(text).digest("hex")
  return `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${signedHeaders},Signature=${signature}`
}
