import { Clock, Context, Effect, Layer, Result, type Scope, Stream } from "effect"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { softwareName, softwareVersion } from "../instance/Software.ts"
import { elapsedMillis } from "../runtime/ElapsedMillis.ts"
import { traced } from "../runtime/Traced.ts"
import * as Allowances from "./Allowances.ts"
import * as AskedHosts from "./AskedHosts.ts"
import * as Bodies from "./Bodies.ts"
import * as BoundedJson from "./BoundedJson.ts"
import * as Charsets from "./Charsets.ts"
import { destination } from "./Destinations.ts"
import * as DocumentTypes from "./DocumentTypes.ts"
import { HostPolicy } from "./HostPolicy.ts"
import * as HostSlots from "./HostSlots.ts"
import { follow, type RequestedUrls } from "./HttpRedirects.ts"
import { type OutboundError, Refused, Unreachable } from "./OutboundError.ts"
import * as ReadDeadlines from "./ReadDeadlines.ts"
import * as RetryAfter from "./RetryAfter.ts"
import { type Exchanged, Transport, type TransportRequest } from "./Transport.ts"

/** Maximum bytes of a decoded document, and of a response to a POST. */
export const documentBytesMax = 1_048_576
export const replyBytesMax = 8_192
/** Timeout of connecting and the response's head, and of a whole document, in seconds. */
export const headSecondsMax = 15
export const documentSecondsMax = 30
/** Maximum duration of a POST and its response once it has a slot, in seconds. */
export const replySecondsMax = 10
/** Maximum wait of a push for a slot at its host, in milliseconds; with the response it stays within its claim. */
export const pushWaitMillisMax = 5_000

interface DocumentRequest {
  readonly url: string
  readonly type: DocumentTypes.DocumentType
  /** Returns further headers for one URL; called again for each redirect, as a signature is valid for one URL only. */
  readonly sign?: (url: URL) => Effect.Effect<Readonly<Record<string, string>>>
  /** `documentBytesMax` by default. */
  readonly bytesMax?: number
  /** Cuts a longer text instead of refusing it. */
  readonly beginning?: boolean
  /** URLs that the same lookup has already requested, if it needs several documents. */
  readonly places?: RequestedUrls
}

/** A document and its final URL. */
interface Fetched<A> {
  readonly url: string
  readonly value: A
}

/** A text with metadata from its headers. */
interface FetchedText extends Fetched<string> {
  readonly contentType: string
  /** Empty if absent. */
  readonly link: string
}

interface FileRequest {
  readonly url: string
  readonly type: DocumentTypes.DocumentType
  /** As of a document. */
  readonly sign?: (url: URL) => Effect.Effect<Readonly<Record<string, string>>>
  readonly bytesMax: number
  /** Timeout from the start to the last byte. */
  readonly secondsMax: number
}

interface RemoteFile {
  readonly url: string
  /** As declared by the host; the reader must detect the type of the bytes. */
  readonly contentType: string
  readonly body: Stream.Stream<Uint8Array, Refused | Unreachable>
}

interface Posting {
  readonly url: string
  /** Must include the content type. */
  readonly headers: Readonly<Record<string, string>>
  /** Returns further headers for the URL. */
  readonly sign?: (url: URL) => Effect.Effect<Readonly<Record<string, string>>>
  readonly body: Uint8Array
  /** Maximum bytes of the response, `replyBytesMax` by default; a longer one is discarded. */
  readonly bytesMax?: number
  /** `push`: sent to a push service, which is not a federated server. */
  readonly purpose?: "document" | "push"
}

export interface Reply {
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  /** Start of the response body, for people. */
  readonly text: string
}

/**
 * All requests to other servers: addresses are checked when connected to, redirects are followed here, and everything
 * is bounded (safety rows 25 to 40). `Destinations`, `AllowedAddresses` and `HttpRedirects` have the rules; hosts in
 * `OUTBOUND_ALLOW` may be private and without TLS.
 */
export class Outbound extends Context.Service<Outbound, {
  /** Fetches a JSON document of the requested type, bounded in depth and size. */
  readonly json: (ask: DocumentRequest) => Effect.Effect<Fetched<unknown>, OutboundError>
  readonly text: (ask: DocumentRequest) => Effect.Effect<FetchedText, OutboundError>
  /** Streams a file; the scope holds the connection. */
  readonly stream: (ask: FileRequest) => Effect.Effect<RemoteFile, OutboundError, Scope.Scope>
  /** Posts a body and returns the response; does not follow redirects. */
  readonly post: (posting: Posting) => Effect.Effect<Reply, Refused | Unreachable>
}>()("murmuration/services/outbound/Outbound") {
  static readonly layer = Layer.effect(
    Outbound,
    Effect.gen(function*() {
      const { outboundAllow, publicUrl } = yield* ServerConfig
      const hostPolicy = yield* HostPolicy
      const transport = yield* Transport
      const slots = HostSlots.make()
      const deadlines = yield* ReadDeadlines.make
      const userAgent = `${softwareName}/${softwareVersion} (+${publicUrl}/)`

      const timeoutError = (url: string) => new Unreachable({ url, reason: "timeout" })
      const within = <A, E, R>(url: string, seconds: number, effect: Effect.Effect<A, E, R>) =>
        Effect.timeoutOrElse(effect, { duration: `${seconds} seconds`, orElse: () => timeoutError(url) })

      /** Checked for each redirect, as it may lead to a blocked host. */
      const send = Effect.fnUntraced(function*(request: TransportRequest, purpose: "document" | "file") {
        const { url } = request
        if (!(yield* hostPolicy.isOpen(url.host, purpose))) return yield* new Refused({ url: url.href, rule: "domain" })
        yield* AskedHosts.admit(url)
        yield* Allowances.spend(url.href)
        yield* slots.take(url, "fetch")
        return yield* within(url.href, headSecondsMax, transport.send(request))
      })

      const open = Effect.fnUntraced(function*(
        ask: Omit<DocumentRequest, "bytesMax">,
        encoding: string,
        purpose: "document" | "file"
      ) {
        const start = yield* Effect.fromResult(destination(outboundAllow, ask.url))
        const headers = { "accept": ask.type.accept, "accept-encoding": encoding, "user-agent": userAgent }
        const found = yield* follow(
          outboundAllow,
          start,
          (url) =>
            ask.sign === undefined
              ? send({ method: "GET", url, headers }, purpose)
              : Effect.flatMap(
                ask.sign(url),
                (more) => send({ method: "GET", url, headers: { ...headers, ...more } }, purpose)
              ),
          ask.places
        )
        const url = found.url.href
        const contentType = found.response.headers["content-type"] ?? ""
        if (!ask.type.accepts(...DocumentTypes.parse(contentType))) return yield* new Refused({ url, rule: "type" })
        return { url, contentType, response: found.response }
      })

      const text = (ask: DocumentRequest) =>
        Effect.gen(function*() {
          const { beginning = false, bytesMax = documentBytesMax } = ask
          // A truncated encoded body cannot be decoded.
          const encoding = beginning ? "identity" : Bodies.acceptEncoding
          const { response, contentType, url } = yield* open(ask, encoding, "document")
          const bytes = yield* beginning && Bodies.encodingOf(response) === undefined
            ? Bodies.readBeginning(url, response, bytesMax)
            : Bodies.readAll(url, response, bytesMax)
          return { url, value: Charsets.decode(bytes, contentType), contentType, link: response.headers["link"] ?? "" }
        }).pipe(Effect.scoped, (effect) => within(ask.url, documentSecondsMax, effect))

      const stream = Effect.fnUntraced(function*(ask: FileRequest) {
        const endsAt = (yield* elapsedMillis) + ask.secondsMax * 1_000
        const { response, contentType, url } = yield* within(ask.url, ask.secondsMax, open(ask, "identity", "file"))
        const refused = (rule: Refused["rule"]) => new Refused({ url, rule })
        if (Bodies.encodingOf(response) !== undefined) return yield* refused("encoding")
        if (Number(response.headers["content-length"] ?? 0) > ask.bytesMax) return yield* refused("size")
        const body = Stream.unfold(0, (before) =>
          Effect.gen(function*() {
            const left = (endsAt - (yield* elapsedMillis)) / 1_000
            if (left <= 0) return yield* timeoutError(url)
            const chunk = yield* within(url, left, Bodies.next(url, response))
            if (chunk === undefined) return undefined
            const bytes = before + chunk.byteLength
            return bytes > ask.bytesMax ? yield* refused("size") : [chunk, bytes] as const
          }))
        return { url, contentType, body }
      })

      const response = (request: TransportRequest, until: number, bytesMax: number) =>
        Effect.callback<Exchanged, Refused | Unreachable>((resume) => {
          let end = (): Exchanged | undefined => undefined
          const settled = deadlines.begin(until, () => {
            // The status counts even if the body breaks off.
            const exchanged = end()
            resume(exchanged === undefined ? timeoutError(request.url.href) : Effect.succeed(exchanged))
          })
          end = transport.exchange(request, bytesMax, (result) => {
            settled()
            resume(Effect.fromResult(result))
          })
          return Effect.sync(() => {
            settled()
            end()
          })
        })

      const post = Effect.fnUntraced(
        function*(
          { body, bytesMax = replyBytesMax, headers: given, sign, url: address, purpose = "document" }: Posting
        ) {
          const url = yield* Effect.fromResult(destination(outboundAllow, address))
          if (!(yield* hostPolicy.isOpen(url.host, purpose))) {
            return yield* new Refused({ url: url.href, rule: "domain" })
          }
          const signed = sign === undefined ? undefined : yield* sign(url)
          const headers = { ...given, ...signed, "accept-encoding": "identity", "user-agent": userAgent }
          // The deadline starts with the slot: a request without time left must not be sent.
          const asked = Effect.flatMap(elapsedMillis, (now) =>
            Effect.andThen(
              deadlines.watch,
              response({ method: "POST", url, headers, body }, now + replySecondsMax * 1_000, bytesMax)
            ))
          const exchanged = yield* slots.within(
            url,
            "delivery",
            asked,
            purpose === "push" ? pushWaitMillisMax : undefined
          )
          return {
            status: exchanged.status,
            retryAfterSeconds: exchanged.retryAfter === undefined
              ? undefined
              : RetryAfter.seconds(exchanged.retryAfter, yield* Clock.currentTimeMillis),
            text: exchanged.body.byteLength === 0 ? "" : new TextDecoder().decode(exchanged.body)
          }
        }
      )

      return Outbound.of({
        text: traced("Outbound.text")(text),
        json: traced("Outbound.json")((ask: DocumentRequest) =>
          Effect.flatMap(text(ask), ({ url, value }) =>
            Effect.fromResult(
              Result.mapBoth(BoundedJson.parse(value), {
                onSuccess: (value) => ({ url, value }),
                onFailure: () => new Refused({ url, rule: "body" })
              })
            ))
        ),
        stream: traced("Outbound.stream")(stream),
        post: traced("Outbound.post")(post)
      })
    })
  )
}
