import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { HttpClientRequest } from "effect/http"
import type { IpNetwork } from "effect/net"
import { Environment } from "../../layers/Environment.ts"
import { certificateAt } from "../../layers/probes/Certificates.ts"
import { addressesOf } from "../../layers/probes/DnsRecords.ts"
import { isTrustedProxy } from "../../layers/TrustedProxies.ts"
import { instanceName } from "../../services/federation/LocalIds.ts"
import { makeProbe, probeHeader, SeenRequest } from "../../services/instance/ProxyProbes.ts"
import { type Examination, Fail, Ok, Skip, Warn } from "./Examination.ts"
import { respond } from "./HttpRequests.ts"

const dayMillis = 86_400_000
/** Days before a certificate's end from which the operator is warned; automatic renewal happens earlier. */
const certificateDaysMin = 14

/** Client address that no client has (TEST-NET-3, RFC 5737), to find out whether clients can forge theirs. */
const forgedAddress = "203.0.113.77"

const decodeRequest = Schema.decodeUnknownOption(Schema.fromJsonString(SeenRequest))
const decodeDescriptor = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ subject: Schema.String })))

const local = Skip({ words: "PUBLIC_URL is not set, or names this machine only" })

/** Runs a check of the public address, unless that is on this machine only. */
const ofPublicUrl = <R>(check: (url: URL, environment: Environment["Service"]) => Examination<R>["examine"]) =>
  Effect.flatMap(Environment, (environment) => {
    const url = new URL(environment.server.publicUrl)
    return url.hostname === "localhost" ? Effect.succeed(local) : check(url, environment)
  })

const hostOf = ({ hostname }: URL) => hostname.replaceAll(/^\[|\]$/g, "")

/**
 * Compares the request that the server saw with the one that was sent through the proxy. `proxies` decides if the request
 * came from the address of the proxy itself, as on a machine that resolves its own name to a loopback address.
 */
export const judgeProxy = (
  url: URL,
  received: typeof SeenRequest.Type,
  proxies: ReadonlyArray<IpNetwork.IpNetwork> = []
) => {
  if (received.host !== url.host) {
    return Fail({
      words: `the proxy changes the Host header to ${received.host}, so that signatures of other servers fail; ` +
        `it must pass on ${url.host}`
    })
  }
  if (received.forwardedFor === null) {
    return Fail({
      words: `the proxy at ${received.peer} sends no X-Forwarded-For, so that all clients share its address`
    })
  }
  if (received.forwardedFor === forgedAddress) {
    return url.protocol === "https:"
      ? Fail({
        words: "the proxy passes on the X-Forwarded-For of clients, who can choose their address; it must set it"
      })
      : Warn({ words: "there is no proxy, or it passes on the X-Forwarded-For of clients" })
  }
  const isProxyItself = received.forwardedFor.split(",").at(-1)?.trim() === received.peer
  if (received.address === received.peer && !(isProxyItself && isTrustedProxy(proxies, received.peer))) {
    return Fail({
      words: `the proxy at ${received.peer} is not in TRUSTED_PROXIES, so that all clients share its address`
    })
  }
  if (url.protocol === "https:" && received.forwardedProto !== "https") {
    return Warn({ words: `the proxy sends X-Forwarded-Proto ${received.forwardedProto ?? "not at all"}, not https` })
  }
  return Ok({ words: `Host, X-Forwarded-For and X-Forwarded-Proto arrive; this machine is ${received.address}` })
}

/**
 * Checks of the public address, made from this machine. `signingKey` is the server's, undefined if it never ran.
 */
export const publicChecks = (
  signingKey: Redacted.Redacted<string> | undefined
): ReadonlyArray<Examination<Environment>> => [
  {
    subject: "DNS",
    examine: ofPublicUrl((url) =>
      Effect.map(addressesOf(hostOf(url)), (addresses) =>
        addresses.length === 0
          ? Fail({ words: `${hostOf(url)} (PUBLIC_URL) has no address; create its A and AAAA records` })
          : Ok({ words: `${hostOf(url)} is ${addresses.join(", ")}` }))
    )
  },
  {
    subject: "Certificate",
    examine: ofPublicUrl((url) => {
      if (url.protocol !== "https:") return Effect.succeed(Skip({ words: "PUBLIC_URL is not https" }))
      return Effect.gen(function*() {
        const { problem, until } = yield* certificateAt(hostOf(url), url.port === "" ? 443 : Number(url.port))
        const days = Math.floor((until.getTime() - (yield* Clock.currentTimeMillis)) / dayMillis)
        const words = `valid for ${days} more days`
        if (problem !== undefined) return Fail({ words: `other servers refuse it: ${problem}` })
        return days < certificateDaysMin ? Warn({ words: `${words}; renew it` }) : Ok({ words })
      })
    })
  },
  {
    subject: "Public address",
    examine: ofPublicUrl((url) =>
      Effect.map(
        respond(HttpClientRequest.get(`${url.origin}/health`)),
        ({ status, text }) =>
          status === 200 && text === "OK"
            ? Ok({ words: `${url.origin} responds to this machine` })
            : Fail({ words: `${url.origin}/health responded with ${status}, not as this server does` })
      )
    )
  },
  {
    subject: "Proxy headers",
    examine: ofPublicUrl((url, { trustedProxies }) =>
      Effect.gen(function*() {
        if (signingKey === undefined) return Skip({ words: "the server never ran" })
        const probe = makeProbe(Redacted.value(signingKey), yield* Clock.currentTimeMillis)
        const { text } = yield* respond(
          HttpClientRequest.get(`${url.origin}/health`, {
            headers: { [probeHeader]: probe, "x-forwarded-for": forgedAddress }
          })
        )
        const received = decodeRequest(text)
        return Option.isSome(received)
          ? judgeProxy(url, received.value, trustedProxies)
          : Warn({ words: "the server did not describe the request; is it another server, or its clock a minute off?" })
      })
    )
  },
  {
    subject: "WebFinger",
    examine: ofPublicUrl((url, { server }) => {
      const address = `acct:${instanceName(server)}@${server.localDomain}`
      const asked = `${url.protocol}//${server.localDomain}/.well-known/webfinger?resource=${
        encodeURIComponent(address)
      }`
      return Effect.map(respond(HttpClientRequest.get(asked)), ({ status, text }) => {
        const found = decodeDescriptor(text)
        return status === 200 && Option.isSome(found) && found.value.subject === address
          ? Ok({ words: `${address} is found` })
          : Fail({
            words: `${asked} responded with ${status}; ${server.localDomain} must redirect /.well-known/webfinger to ` +
              url.origin
          })
      })
    })
  }
]
