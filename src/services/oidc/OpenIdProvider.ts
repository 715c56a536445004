import { Clock, Effect, Redacted, Semaphore } from "effect"
import * as oauth from "oauth4webapi"
import { type ProviderConfig, ServerConfig } from "../instance/ServerConfig.ts"
import type { DocumentType } from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { type Attempt, type ProviderClient, ProviderFailed, ProviderRefused } from "./IdentityProvider.ts"
import { claimOf, type Claims, identityOf, isSubject } from "./ProviderIdentity.ts"
import { providerCallbackPath } from "./ProviderPaths.ts"

/** Lifetime of the provider's document and keys in memory, and of a failure to fetch them, in milliseconds. */
const documentMillisMax = 3_600_000
const failureMillisMax = 5_000
/** Maximum bytes of a document, of keys, and of a token response. */
const bytesMax = 262_144
/** Timeout of each request to the provider, in seconds. */
const secondsMax = 10
/** Maximum characters of a logged reason. */
const whyCharactersMax = 300

const json: DocumentType = {
  accept: "application/json, application/jwk-set+json",
  accepts: (type) => type === "application/json" || type === "application/jwk-set+json"
}

/** Returns the reason for the log, with the provider's error code (RFC 6749, 4.1.2.1 and 5.2). */
const reasonOf = (error: unknown): string => {
  const code = error instanceof oauth.ResponseBodyError || error instanceof oauth.AuthorizationResponseError
    ? ` (${JSON.stringify(error.error)})`
    : ""
  return (error instanceof Error ? `${error.name}: ${error.message}${code}` : String(error)).slice(0, whyCharactersMax)
}
const failed = (error: unknown) => new ProviderFailed({ why: reasonOf(error) })

/** Logs why a response proves nothing. Errors of the library hold tokens in their cause, which is not logged. */
const refused = (error: unknown) =>
  Effect.andThen(
    Effect.logWarning(`a sign-in by the identity provider was refused: ${reasonOf(error)}`),
    Effect.fail(new ProviderRefused({ reason: "response" }))
  )

/** Caches one value for an hour. A failure is cached for some seconds, so that visitors do not flood the provider. */
const cached = <A>(load: Effect.Effect<A, ProviderFailed>) => {
  let value: { readonly value: A; readonly at: number } | undefined
  let failure: { readonly error: ProviderFailed; readonly at: number } | undefined
  const lock = Semaphore.makeUnsafe(1)
  const get = (millisMax: number) =>
    lock.withPermit(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const isWithin = (at: number, millis: number) => now >= at && now - at < millis
      if (value !== undefined && isWithin(value.at, millisMax)) return value.value
      if (failure !== undefined && isWithin(failure.at, failureMillisMax)) return yield* failure.error
      return yield* Effect.match(load, {
        onSuccess: (loaded) => {
          value = { value: loaded, at: now }
          failure = undefined
          return Effect.succeed(loaded)
        },
        onFailure: (error) => {
          failure = { error, at: now }
          return Effect.fail(error)
        }
      }).pipe(Effect.flatten)
    }))
  return { current: get(documentMillisMax), renewed: get(0) }
}

/**
 * Client of an OpenID Connect provider: discovery, authorization code with PKCE, and the checks of the ID token
 * (OpenID Connect Core, 3.1.3.7), whose signature is always checked.
 */
export const make = Effect.fnUntraced(function*(config: ProviderConfig) {
  const outbound = yield* Outbound
  const { publicUrl } = yield* ServerConfig
  const issuer = new URL(config.issuer)
  const redirectUri = publicUrl + providerCallbackPath
  const client: oauth.Client = { "client_id": config.clientId }
  const isPlain = issuer.protocol === "http:"

  const fetched = (url: string, headers: Readonly<Record<string, string>> = {}) =>
    outbound.json({
      url,
      type: json,
      bytesMax,
      // A redirect must not carry credentials to another URL.
      sign: (asked) => Effect.succeed(asked.href === new URL(url).href ? headers : {})
    }).pipe(
      Effect.timeoutOrElse({
        duration: `${secondsMax} seconds`,
        orElse: () => Effect.fail(failed(`${url} did not respond in time`))
      }),
      Effect.mapError((error) => error._tag === "ProviderFailed" ? error : failed(error)),
      Effect.map(({ value }) => value)
    )

  /** Returns an endpoint of the document. It has TLS if the issuer has. */
  const endpointOf = (name: string, given: string | undefined) => {
    const url = URL.parse(given ?? "")
    return url !== null && (url.protocol === "https:" || (isPlain && url.protocol === "http:"))
      ? Effect.succeed(url)
      : Effect.fail(failed(`its document has no usable ${name}`))
  }

  const document = cached(
    Effect.gen(function*() {
      const base = config.issuer.replace(/\/$/, "")
      const value = yield* fetched(`${base}/.well-known/openid-configuration`)
      const server = yield* Effect.tryPromise({
        try: () => oauth.processDiscoveryResponse(issuer, Response.json(value)),
        catch: failed
      })
      yield* endpointOf("authorization_endpoint", server["authorization_endpoint"])
      yield* endpointOf("token_endpoint", server["token_endpoint"])
      yield* endpointOf("jwks_uri", server["jwks_uri"])
      return server
    }).pipe(Effect.tapError(({ why }) => Effect.logWarning(`the identity provider ${config.issuer} failed: ${why}`)))
  )

  const keys = cached(Effect.gen(function*() {
    const server = yield* document.current
    const value = yield* fetched((yield* endpointOf("jwks_uri", server["jwks_uri"])).href)
    return value
  }))

  /** Returns how the server authenticates: by a header, unless the provider accepts the body only. */
  const authenticationOf = (server: oauth.AuthorizationServer) => {
    const listed: unknown = server["token_endpoint_auth_methods_supported"]
    const methods: ReadonlyArray<unknown> = Array.isArray(listed) ? listed : ["client_secret_basic"]
    return methods.includes("client_secret_basic") || !methods.includes("client_secret_post")
      ? oauth.ClientSecretBasic(Redacted.value(config.clientSecret))
      : oauth.ClientSecretPost(Redacted.value(config.clientSecret))
  }

  /** Sends the token request, which the library makes. */
  const post = (url: string, { body, headers }: { body: URLSearchParams; headers: Record<string, string> }) =>
    outbound.post({ url, headers, body: new TextEncoder().encode(body.toString()), bytesMax }).pipe(
      Effect.map(({ status, text }) => new Response(text, { status, headers: { "content-type": "application/json" } }))
    )

  const redeem = Effect.fnUntraced(function*(
    server: oauth.AuthorizationServer,
    parameters: URLSearchParams,
    { nonce, verifier }: Attempt
  ) {
    let isSent = false
    const response = yield* Effect.tryPromise({
      try: (signal) =>
        oauth.authorizationCodeGrantRequest(
          server,
          client,
          authenticationOf(server),
          parameters,
          redirectUri,
          verifier,
          {
            [oauth.allowInsecureRequests]: isPlain,
            [oauth.customFetch]: (url, request) => {
              isSent = true
              return Effect.runPromise(post(url, request), { signal })
            }
          }
        ),
      catch: (error) => error
    }).pipe(
      Effect.catch((error): Effect.Effect<never, ProviderFailed | ProviderRefused> =>
        isSent ? Effect.fail(failed(error)) : refused(error)
      )
    )
    if (response.status >= 500) return yield* failed(`its token endpoint returned ${response.status}`)
    const tokens = yield* Effect.tryPromise({
      try: () =>
        oauth.processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: nonce,
          requireIdToken: true
        }),
      catch: (error) => error
    }).pipe(Effect.catch(refused))
    return { response, tokens }
  })

  /** Checks the signature of the ID token; with new keys if the known ones do not fit. */
  const verify = (server: oauth.AuthorizationServer, response: Response) => {
    const by = Effect.fnUntraced(function*(known: typeof keys.current) {
      const jwks = keySetOf(yield* known)
      const now = yield* Clock.currentTimeMillis
      return yield* Effect.tryPromise({
        try: () =>
          // The library caches keys by the object of the server, and refuses keys that it takes for old.
          oauth.validateApplicationLevelSignature({ ...server }, response, {
            [oauth.jwksCache]: { jwks, uat: Math.floor(now / 1_000) },
            [oauth.customFetch]: () => Promise.reject(new Error("no applicable key"))
          }),
        catch: (error) => error
      })
    })
    return by(keys.current).pipe(
      Effect.catch((error) => error instanceof ProviderFailed ? Effect.fail(error) : by(keys.renewed)),
      Effect.catch((error): Effect.Effect<never, ProviderFailed | ProviderRefused> =>
        error instanceof ProviderFailed ? Effect.fail(error) : refused(error)
      )
    )
  }

  const infoOf = Effect.fnUntraced(function*(
    server: oauth.AuthorizationServer,
    token: Claims,
    accessToken: string
  ) {
    const needsGroups = config.allowedGroups !== undefined || config.roles.length > 0
    const isComplete = token["email"] !== undefined && token["email_verified"] !== undefined &&
      (!needsGroups || claimOf(token, config.groupsClaim) !== undefined)
    if (isComplete || server["userinfo_endpoint"] === undefined) return {}
    const { href } = yield* endpointOf("userinfo_endpoint", server["userinfo_endpoint"])
    const value = yield* fetched(href, { authorization: `Bearer ${accessToken}` })
    return yield* Effect.tryPromise({
      try: () => oauth.processUserInfoResponse(server, client, String(token["sub"]), Response.json(value)),
      catch: (error) => error
    }).pipe(Effect.catch(refused))
  })

  const provider: ProviderClient = {
    authorizationUrl: Effect.fnUntraced(function*({ nonce, state, verifier }) {
      const server = yield* document.current
      const url = yield* endpointOf("authorization_endpoint", server["authorization_endpoint"])
      const challenge = yield* Effect.promise(() => oauth.calculatePKCECodeChallenge(verifier))
      const parameters = [
        ["client_id", config.clientId],
        ["redirect_uri", redirectUri],
        ["response_type", "code"],
        ["scope", config.scopes],
        ["state", state],
        ["nonce", nonce],
        ["code_challenge", challenge],
        ["code_challenge_method", "S256"]
      ] as const
      for (const [name, value] of parameters) url.searchParams.set(name, value)
      return url.href
    }),
    identify: Effect.fnUntraced(function*(given, attempt) {
      const server = yield* document.current
      const parameters = yield* Effect.try({
        try: () => oauth.validateAuthResponse(server, client, given, attempt.state),
        catch: (error) => error
      }).pipe(Effect.catch(refused))
      const { response, tokens } = yield* redeem(server, parameters, attempt)
      yield* verify(server, response)
      const token: Claims = oauth.getValidatedIdTokenClaims(tokens) ?? {}
      const { sub: subject } = token
      if (!isSubject(subject)) return yield* refused("its subject is not valid")
      const info = yield* infoOf(server, token, tokens["access_token"])
      // The configured form: a document that gains or loses a slash at the end must not make everybody a stranger.
      return identityOf(issuer.href, subject, token, info, config.groupsClaim)
    })
  }
  return provider
})

/** Keys of a JWK set; entries of other shapes are dropped. */
const keySetOf = (value: unknown): { keys: Array<oauth.JWK> } => {
  const keys = typeof value === "object" && value !== null && "keys" in value && Array.isArray(value.keys)
    ? value.keys
    : []
  return { keys: keys.filter((key) => typeof key === "object" && key !== null) }
}
