import { Context, Effect, Layer, Result, Schema, Stream } from "effect"
import { asForeign, type Foreign, urlReader } from "../../federation/documents/ForeignValues.ts"
import { parseHandle } from "../../federation/DomainNames.ts"
import { ObjectFetcher } from "../../federation/ObjectFetcher.ts"
import { WebFingers } from "../../federation/WebFingers.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { softwareName } from "../../instance/Software.ts"
import { portability } from "../../oauth/Scopes.ts"
import * as BoundedJson from "../../outbound/BoundedJson.ts"
import * as DocumentTypes from "../../outbound/DocumentTypes.ts"
import { Outbound } from "../../outbound/Outbound.ts"
import type { OutboundError } from "../../outbound/OutboundError.ts"
import { traced } from "../../runtime/Traced.ts"
import type { LiveProblem, LiveSecrets, LiveSource } from "./LiveImport.ts"

/** Maximum bytes of a page of a collection, and of a response to a POST. */
const pageBytesMax = 4 * 1_048_576
const replyBytesMax = 65_536
/** Timeout of a file, in seconds; shorter than the lease of a transfer. */
const fileSecondsMax = 90

/** A request failed; `retrySeconds` is set if it may be repeated after that time. */
export class SourceFailed extends Schema.TaggedError<SourceFailed>()("SourceFailed", {
  problem: Schema.Literals(["no_account", "not_supported", "no_consent", "silent", "unreadable_source"]),
  retrySeconds: Schema.UndefinedOr(Schema.Int)
}) {}

const failed = (problem: Exclude<LiveProblem, "too_many_posts">, retrySeconds?: number) =>
  new SourceFailed({ problem, retrySeconds })

/** Delay of a request to a server that does not say when to repeat it, in seconds. */
const retrySecondsDefault = 30

const statusFailure = (status: number, retryAfterSeconds: number | undefined, refusal: "no_consent" | "no_account") =>
  status === 429 || status >= 500
    ? failed("silent", Math.max(1, retryAfterSeconds ?? retrySecondsDefault))
    : status === 401 || status === 403
    ? failed("no_consent")
    : failed(refusal === "no_account" ? refusal : "unreadable_source")

const failureOf = (refusal: "no_consent" | "no_account") => (error: OutboundError) => {
  if (error._tag === "ErrorResponse") return statusFailure(error.status, error.retryAfterSeconds, refusal)
  return error._tag === "Unreachable" ? failed("silent", retrySecondsDefault) : failed("unreadable_source")
}

/** Timeout of finding an account and its endpoints, in seconds; shorter than the lease of a transfer. */
const discoverSecondsMax = 90

/** Any file; its type is that of its bytes. */
const anyFile: DocumentTypes.DocumentType = { accept: "image/*, video/*, audio/*", accepts: () => true }

/**
 * Servers from which members import accounts with their consent (LOLA 0.2). The token is sent only to the origin of the
 * actor, also after redirects.
 */
export class LiveSources extends Context.Service<LiveSources, {
  /** Finds the actor of a handle or URL, and registers a client at the server that it names for OAuth. */
  readonly discover: (address: string, redirectUri: string) => Effect.Effect<
    { readonly source: LiveSource; readonly clientSecret: string | null },
    SourceFailed
  >
  /** Exchanges the code of an authorization for a token. */
  readonly exchange: (source: LiveSource, secrets: LiveSecrets, redirectUri: string) => Effect.Effect<
    string,
    SourceFailed
  >
  /** Reads the actor document or a page, with the token. */
  readonly read: (source: LiveSource, token: string, url: string) => Effect.Effect<Foreign, SourceFailed>
  /** Streams a file of a post. */
  readonly file: <A, E, R>(
    source: LiveSource,
    token: string,
    url: string,
    bytesMax: number,
    use: (body: Stream.Stream<Uint8Array, SourceFailed>) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | SourceFailed, R>
  /** Revokes the token, if the server can. Fails only if the request may be repeated. */
  readonly revoke: (source: LiveSource, secrets: LiveSecrets) => Effect.Effect<void, SourceFailed>
}>()("murmuration/services/transfers/live/LiveSources") {
  static readonly layer = Layer.effect(LiveSources, Effect.suspend(() => make))
}

const Metadata = Schema.Struct({
  tokenEndpoint: Schema.String,
  /** Mastodon's, and that of RFC 7591. */
  appRegistrationEndpoint: Schema.optionalKey(Schema.String),
  registrationEndpoint: Schema.optionalKey(Schema.String),
  revocationEndpoint: Schema.optionalKey(Schema.String)
}).pipe(Schema.encodeKeys({
  tokenEndpoint: "token_endpoint",
  appRegistrationEndpoint: "app_registration_endpoint",
  registrationEndpoint: "registration_endpoint",
  revocationEndpoint: "revocation_endpoint"
}))
const Client = Schema.Struct({
  clientId: Schema.String,
  clientSecret: Schema.optionalKey(Schema.NullOr(Schema.String))
}).pipe(Schema.encodeKeys({ clientId: "client_id", clientSecret: "client_secret" }))
const Token = Schema.Struct({ accessToken: Schema.String }).pipe(Schema.encodeKeys({ accessToken: "access_token" }))

const make = Effect.gen(function*() {
  const { outboundAllow } = yield* ServerConfig
  const fetcher = yield* ObjectFetcher
  const fingers = yield* WebFingers
  const outbound = yield* Outbound
  const readUrl = urlReader(outboundAllow)

  const decoded = <A>(schema: Schema.Codec<A, unknown>, value: unknown) =>
    Effect.mapError(Schema.decodeUnknownEffect(schema)(value), () => failed("not_supported"))
  const parsed = <A>(schema: Schema.Codec<A, unknown>, text: string) =>
    Effect.flatMap(
      Effect.fromResult(Result.mapError(BoundedJson.parse(text), () => failed("not_supported"))),
      (value) => decoded(schema, value)
    )

  const actorOf = Effect.fnUntraced(
    function*(address: string) {
      const handle = parseHandle(address)
      const url = handle === undefined
        ? readUrl(address)?.href
        : (yield* fingers.resolve(handle.username, handle.domain)).actor.href
      return url === undefined ? yield* failed("no_account") : yield* fetcher.fetch(url)
    },
    Effect.mapError((error) =>
      error._tag === "SourceFailed"
        ? error
        : error._tag === "Implausible"
        ? failed("no_account")
        : failureOf("no_account")(error)
    )
  )

  const metadataOf = (authorizationEndpoint: string) =>
    outbound.json({
      url: new URL("/.well-known/oauth-authorization-server", authorizationEndpoint).href,
      type: DocumentTypes.plainJson
    }).pipe(
      Effect.mapError((error) => {
        const failure = failureOf("no_account")(error)
        return failure.problem === "silent" ? failure : failed("not_supported")
      }),
      Effect.flatMap(({ value }) => decoded(Metadata, value))
    )

  /** Returns an endpoint, which must be at the origin of the authorization endpoint. */
  const endpointAt = (authorizationEndpoint: string, given: string | undefined) => {
    const url = readUrl(given)
    return url !== undefined && url.origin === new URL(authorizationEndpoint).origin
      ? Effect.succeed(url.href)
      : Effect.fail(failed("not_supported"))
  }

  const post = Effect.fnUntraced(
    function*(url: string, contentType: string, body: string) {
      const reply = yield* outbound.post({
        url,
        headers: { "content-type": contentType, accept: "application/json" },
        body: new TextEncoder().encode(body),
        bytesMax: replyBytesMax
      }).pipe(Effect.mapError(failureOf("no_consent")))
      if (reply.status >= 200 && reply.status < 300) return reply.text
      return yield* statusFailure(reply.status, reply.retryAfterSeconds, "no_consent")
    }
  )

  const registered = Effect.fnUntraced(function*(
    authorizationEndpoint: string,
    metadata: typeof Metadata.Type,
    redirectUri: string
  ) {
    const mastodons = metadata.appRegistrationEndpoint
    const url = yield* endpointAt(authorizationEndpoint, mastodons ?? metadata.registrationEndpoint)
    const application = mastodons !== undefined
      ? { ["client_name"]: softwareName, ["redirect_uris"]: redirectUri, scopes: portability }
      : {
        ["client_name"]: softwareName,
        ["redirect_uris"]: [redirectUri],
        scope: portability,
        ["grant_types"]: ["authorization_code"],
        ["response_types"]: ["code"],
        ["token_endpoint_auth_method"]: "client_secret_post"
      }
    const text = yield* post(url, "application/json", JSON.stringify(application)).pipe(
      Effect.mapError((error) => error.problem === "silent" ? error : failed("not_supported"))
    )
    return yield* parsed(Client, text)
  })

  /** Sends the token to the origin of the actor only. */
  const signed = ({ actor }: LiveSource, token: string) => (url: URL) =>
    Effect.succeed<Readonly<Record<string, string>>>(
      url.origin === new URL(actor).origin ? { authorization: `Bearer ${token}` } : {}
    )

  const credentials = ({ clientId }: LiveSource, { clientSecret }: LiveSecrets) => ({
    ["client_id"]: clientId,
    ...(clientSecret === null ? {} : { ["client_secret"]: clientSecret })
  })
  const formType = "application/x-www-form-urlencoded"

  return LiveSources.of({
    discover: traced("LiveSources.discover")(
      function*(address: string, redirectUri: string) {
        const { document, id } = yield* actorOf(address)
        const authorizationEndpoint = readUrl(document["accountPortabilityOauth"])?.href
        if (authorizationEndpoint === undefined) return yield* failed("not_supported")
        const metadata = yield* metadataOf(authorizationEndpoint)
        const tokenEndpoint = yield* endpointAt(authorizationEndpoint, metadata.tokenEndpoint)
        const client = yield* registered(authorizationEndpoint, metadata, redirectUri)
        return {
          source: { actor: id.href, authorizationEndpoint, tokenEndpoint, clientId: client.clientId },
          clientSecret: client.clientSecret ?? null
        }
      },
      Effect.timeoutOrElse({
        duration: `${discoverSecondsMax} seconds`,
        orElse: () => Effect.fail(failed("silent", retrySecondsDefault))
      })
    ),
    exchange: traced("LiveSources.exchange")(function*(source: LiveSource, secrets: LiveSecrets, redirectUri: string) {
      const body = new URLSearchParams({
        ["grant_type"]: "authorization_code",
        code: secrets.code ?? "",
        ["redirect_uri"]: redirectUri,
        ["code_verifier"]: secrets.verifier,
        ...credentials(source, secrets)
      })
      const text = yield* post(source.tokenEndpoint, formType, body.toString()).pipe(
        Effect.mapError((error) => error.problem === "silent" ? error : failed("no_consent"))
      )
      return (yield* parsed(Token, text)).accessToken
    }),
    read: traced("LiveSources.read")(function*(source: LiveSource, token: string, url: string) {
      // Collections of another origin would be somebody else's.
      if (URL.parse(url)?.origin !== new URL(source.actor).origin) return yield* failed("unreadable_source")
      const { value } = yield* outbound.json({
        url,
        type: DocumentTypes.activity,
        bytesMax: pageBytesMax,
        sign: signed(source, token)
      }).pipe(Effect.mapError(failureOf("no_consent")))
      return asForeign(value) ?? (yield* failed("unreadable_source"))
    }),
    file: (source, token, url, bytesMax, use) =>
      Effect.scoped(
        Effect.flatMap(
          outbound.stream({ url, type: anyFile, bytesMax, secondsMax: fileSecondsMax, sign: signed(source, token) })
            .pipe(Effect.mapError(failureOf("no_consent"))),
          ({ body }) => use(Stream.mapError(body, failureOf("no_consent")))
        )
      ),
    revoke: traced("LiveSources.revoke")(
      function*(source: LiveSource, secrets: LiveSecrets) {
        const metadata = yield* metadataOf(source.authorizationEndpoint)
        const url = yield* endpointAt(source.authorizationEndpoint, metadata.revocationEndpoint)
        const body = new URLSearchParams({ token: secrets.token ?? "", ...credentials(source, secrets) })
        yield* post(url, formType, body.toString())
      },
      Effect.catchIf(
        ({ retrySeconds }) => retrySeconds === undefined,
        (error) => Effect.logDebug("a token of another server could not be revoked", error)
      )
    )
  })
})
