import { Result } from "effect"
import { isInnerList, type Parameters, serializeBareItem, serializeInnerList } from "structured-headers"
import { momentOfSeconds } from "../../runtime/Moments.ts"
import type { ToSign } from "./Cavage.ts"
import { contentDigest, isContentDigestOf } from "./Digests.ts"
import { type Claim, isInTime, malformed, type SignedRequest, type Unverified, unverified } from "./SignedRequest.ts"
import { canonical } from "./StructuredFields.ts"

/* HTTP Message Signatures (RFC 9421), in the subset that servers use for requests. */

const utf8 = new TextEncoder()
const componentsMax = 50

const algorithms = new Map([["rsa-v1_5-sha256", "rsa-sha256"], ["ed25519", "ed25519"]] as const)
const algorithmOf = (name: string) =>
  name === "rsa-v1_5-sha256" || name === "ed25519" ? algorithms.get(name) : undefined

/** One signature: its component names and parameters, and both as they were written (section 4.1). */
interface Input {
  readonly label: string
  readonly components: ReadonlyArray<string>
  readonly parameters: Parameters
  readonly text: string
}

const isComponent = /^[a-z0-9@_-]+$/

/** Returns the member of a dictionary with exactly one. */
const only = (header: string) => {
  const found = canonical(header)
  return found?.size === 1 ? found.entries().next().value : undefined
}

/** Parses exactly one signature, over components without parameters. Several signatures could contradict each other. */
const inputOf = (header: string): Input | undefined => {
  const [label, member] = only(header) ?? []
  if (label === undefined || member === undefined || !isInnerList(member)) return undefined
  const [items, parameters] = member
  if (items.length > componentsMax) return undefined
  const components = items.flatMap(([name, { size }]) =>
    typeof name === "string" && size === 0 && isComponent.test(name) ? [name] : []
  )
  return new Set(components).size < items.length
    ? undefined
    : { label, components, parameters, text: serializeInnerList(member) }
}

/** Returns the signature with a label, if it is the only one. */
const signatureOf = (header: string, label: string): Uint8Array | undefined => {
  const [found, member] = only(header) ?? []
  const [value, parameters] = member ?? []
  return found === label && value instanceof ArrayBuffer && parameters?.size === 0 ? new Uint8Array(value) : undefined
}

interface Described extends Pick<SignedRequest, "method" | "target" | "headers"> {
  readonly origin: URL
}

/** Returns the value of a component (section 2.2 for names with @). */
const valueOf = (name: string, { headers, method, origin, target }: Described): string | undefined => {
  const [path = "", ...query] = target.split("?")
  switch (name) {
    case "@method":
      return method
    case "@target-uri":
      return origin.origin + target
    case "@authority":
      return origin.host
    case "@scheme":
      return origin.protocol.slice(0, -1)
    case "@request-target":
      return target
    case "@path":
      return path === "" ? "/" : path
    case "@query":
      return `?${query.join("?")}`
    default:
      return name.startsWith("@") ? undefined : headers[name]?.trim()
  }
}

/** Returns the signature base (section 2.5); undefined if a component is missing. */
export const signatureBase = (components: ReadonlyArray<string>, text: string, request: Described) => {
  const lines: Array<string> = []
  for (const name of components) {
    const value = valueOf(name, request)
    if (value === undefined) return undefined
    lines.push(`"${name}": ${value}`)
  }
  return [...lines, `"@signature-params": ${text}`].join("\n")
}

const momentIn = (parameters: Parameters, name: string) => {
  const value = parameters.get(name)
  return typeof value === "number" ? momentOfSeconds(String(value)) : undefined
}

/** As `Cavage.claim`; `origin` is this server's, which the signed URL must have. */
export const claim = (request: SignedRequest, origin: URL, now: number): Result.Result<Claim, Unverified> => {
  const input = inputOf(request.headers["signature-input"] ?? "")
  const signature = input && signatureOf(request.headers["signature"] ?? "", input.label)
  const keyId = input?.parameters.get("keyid")
  if (input === undefined || typeof keyId !== "string" || signature === undefined) {
    return malformed("Error parsing signature parameters")
  }
  const { components, parameters } = input
  const named = parameters.get("alg")
  const algorithm = typeof named === "string" ? algorithmOf(named) : undefined
  if (named !== undefined && algorithm === undefined) {
    return unverified(`Unsupported signature algorithm ${typeof named === "string" ? named : serializeBareItem(named)}`)
  }
  const [created, expires] = [momentIn(parameters, "created"), momentIn(parameters, "expires")]
  if (created === undefined) return unverified("The created parameter must be signed")
  if (!isInTime(now, created, expires)) {
    return unverified("Signed request date outside acceptable time window")
  }
  if (!components.includes("@method") || !components.includes("@target-uri")) {
    return unverified("The @method and @target-uri components must be signed")
  }
  if (request.method !== "GET") {
    if (!components.includes("content-digest")) {
      return unverified("The Content-Digest header of a POST request must be signed")
    }
    if (!isContentDigestOf(request.headers["content-digest"] ?? "", request.body)) {
      return unverified("Invalid Content-Digest value. It is not a SHA-256 digest of the body")
    }
  }
  const base = signatureBase(components, input.text, { ...request, origin })
  if (base === undefined) return unverified("A signed component is missing")
  return Result.succeed({
    keyId,
    algorithm,
    base: utf8.encode(base),
    variants: [],
    signature,
    signedMillis: created
  })
}

/** As `Cavage.toSign`; the key's kind determines the algorithm. */
export const toSign = ({ body, headers, keyId, method, now, url }: ToSign) => {
  const sent = body === undefined ? headers : { ...headers, "content-digest": contentDigest(body) }
  const components = ["@method", "@target-uri", ...(body === undefined ? [] : ["content-digest"])]
  const text = `(${components.map((name) => `"${name}"`).join(" ")});created=${
    Math.floor(now / 1_000)
  };keyid="${keyId}"`
  const request = { method, target: url.pathname + url.search, headers: sent, origin: url }
  return {
    base: utf8.encode(signatureBase(components, text, request) ?? ""),
    headers: (signature: Uint8Array): Readonly<Record<string, string>> => ({
      ...sent,
      "signature-input": `sig1=${text}`,
      signature: `sig1=:${Buffer.from(signature).toString("base64")}:`
    })
  }
}
