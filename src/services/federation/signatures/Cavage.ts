import { Result } from "effect"
import { momentOf, momentOfSeconds } from "../../runtime/Moments.ts"
import { digest, isDigestOf } from "./Digests.ts"
import { type Claim, isInTime, malformed, type SignedRequest, type Unverified, unverified } from "./SignedRequest.ts"

/* HTTP signatures of draft-cavage-http-signatures-12, the fediverse's original scheme. */

const utf8 = new TextEncoder()
/** Maximum parameters of a signature, and maximum headers that it covers. */
const parametersMax = 10
const headersMax = 50

type Parameters = ReadonlyMap<string, string>

const parameter = /\s*([a-zA-Z]+)=(?:"([^"\\]*)"|(\d+))\s*(?:,|$)/y

const parametersOf = (header: string): Parameters | undefined => {
  const found = new Map<string, string>()
  parameter.lastIndex = 0
  while (parameter.lastIndex < header.length && found.size < parametersMax) {
    const match = parameter.exec(header)
    const [, name = "", quoted, bare = ""] = match ?? []
    // A repeated parameter is ambiguous, so the signature is refused.
    if (match === null || found.has(name)) return undefined
    found.set(name, quoted ?? bare)
  }
  return found
}

/** Returns the signing string (section 2.3); undefined if a listed header is missing. */
const signingString = (
  names: ReadonlyArray<string>,
  request: Pick<SignedRequest, "method" | "target" | "headers">,
  parameters: Parameters
): string | undefined => {
  const lines: Array<string> = []
  for (const name of names) {
    const value = name === "(request-target)"
      ? `${request.method.toLowerCase()} ${request.target}`
      : name === "(created)" || name === "(expires)"
      ? parameters.get(name.slice(1, -1))
      : request.headers[name]
    if (value === undefined) return undefined
    lines.push(`${name}: ${value.trim()}`)
  }
  return lines.join("\n")
}

/** Returns an error unless the signature covers the path, the host, the time and the body (row 4). */
const missing = (names: ReadonlyArray<string>, method: string): string | undefined => {
  if (!names.includes("date") && !names.includes("(created)")) {
    return "The Date header or (created) pseudo-header must be signed"
  }
  if (!names.includes("(request-target)")) return "The (request-target) pseudo-header must be signed"
  if (!names.includes("host")) return "The Host header must be signed"
  return method === "GET" || names.includes("digest")
    ? undefined
    : "The Digest header of a POST request must be signed"
}

/** Default ports by scheme, which URLs omit. */
const usualPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" }

/** Returns the values of `Host` that name this server: some senders omit the port, or include the default one. */
const namesOf = ({ host, hostname, protocol }: URL): ReadonlyArray<string> => [
  ...new Set(host === hostname ? [host, `${host}:${usualPorts[protocol] ?? ""}`] : [host, hostname])
]

/**
 * Returns the request in the forms that servers sign: with and without the query (federation.md section 5), and with
 * each host name.
 */
const formsOf = (request: SignedRequest, names: ReadonlyArray<string>) => {
  const [path = ""] = request.target.split("?")
  return [...new Set([request.target, path])].flatMap((target) =>
    names.map((host) => ({ ...request, target, headers: { ...request.headers, host } }))
  )
}

/**
 * Parses a request's `Signature` header and makes all checks that need no key. `origin` is this server's; `now` is in
 * milliseconds since 1970.
 */
export const claim = (request: SignedRequest, origin: URL, now: number): Result.Result<Claim, Unverified> => {
  const parameters = parametersOf(request.headers["signature"] ?? "")
  const [keyId, encoded] = [parameters?.get("keyId"), parameters?.get("signature")]
  if (parameters === undefined || keyId === undefined || encoded === undefined) {
    return malformed("Error parsing signature parameters")
  }
  const algorithm = parameters.get("algorithm") ?? "hs2019"
  if (algorithm !== "hs2019" && algorithm !== "rsa-sha256") {
    return unverified(`Unsupported signature algorithm (only rsa-sha256 and hs2019 are supported), given ${algorithm}`)
  }
  const names = (parameters.get("headers") ?? "date").toLowerCase().split(/\s+/)
  if (names.length > headersMax || new Set(names).size < names.length) {
    return malformed("Error parsing signature parameters")
  }
  const lacking = missing(names, request.method)
  if (lacking !== undefined) return unverified(lacking)
  const host = (request.headers["host"] ?? "").trim()
  if (!namesOf(origin).includes(host.toLowerCase())) return unverified("Signed for another host")

  const date = momentOf(request.headers["date"])
  const created = names.includes("(created)") ? momentOfSeconds(parameters.get("created")) : date
  const expires = names.includes("(expires)") ? momentOfSeconds(parameters.get("expires")) : undefined
  if (created === undefined) return malformed("Invalid Date header")
  if (!isInTime(now, created, expires)) {
    return unverified("Signed request date outside acceptable time window")
  }
  if (request.method !== "GET" && !isDigestOf(request.headers["digest"] ?? "", request.body)) {
    return unverified("Invalid Digest value. The provided Digest value is not a SHA-256 digest of the body")
  }
  const [base, ...variants] = formsOf(request, [...new Set([host, origin.host, origin.hostname])]).map((form) =>
    signingString(names, form, parameters)
  )
  if (base === undefined) return unverified("A signed header is missing")
  return Result.succeed({
    keyId,
    algorithm: algorithm === "hs2019" ? undefined : algorithm,
    base: utf8.encode(base),
    variants: variants.flatMap((form) => form === undefined ? [] : utf8.encode(form)),
    signature: Buffer.from(encoded, "base64"),
    signedMillis: created
  })
}

export interface ToSign {
  readonly method: "GET" | "POST"
  readonly url: URL
  readonly keyId: string
  /** Milliseconds since 1970. */
  readonly now: number
  /** Further headers to send and sign, with names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
}

/** Returns the text to sign for an outgoing request, and a function that makes its headers from the signature. */
export const toSign = ({ body, headers, keyId, method, now, url }: ToSign) => {
  const signed: Record<string, string> = {
    host: url.host,
    date: new Date(now).toUTCString(),
    ...(body === undefined ? {} : { digest: digest(body) }),
    ...headers
  }
  const names = ["(request-target)", ...Object.keys(signed)]
  const base = signingString(names, { method, target: url.pathname + url.search, headers: signed }, new Map()) ?? ""
  const { host: _, ...sent } = signed
  return {
    base: utf8.encode(base),
    headers: (signature: Uint8Array): Readonly<Record<string, string>> => ({
      ...sent,
      signature: `keyId="${keyId}",algorithm="rsa-sha256",headers="${names.join(" ")}",signature="${
        Buffer.from(signature).toString("base64")
      }"`
    })
  }
}
