import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, References } from "effect"
import { outboundTo, privateNetworks } from "../../../src/layers/outbound/ConfiguredHosts.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import * as OpenIdProvider from "../../../src/services/oidc/OpenIdProvider.ts"
import { configurationOf } from "../../support/Configuration.ts"
import { oidcClient, OidcProvider } from "../../support/OidcProvider.ts"
import { pauseIn } from "./Pauses.ts"
import { mixedText, worstTexts } from "./worstTexts.ts"

/** Maximum time for which the event loop may be blocked, in CPU milliseconds. */
const pauseMillisMax = 50
/** Attempts per text; the shortest pause counts, because garbage collection adds time. */
const triesMax = 5
/** Bytes of a document's JSON, of the claims in a token, which are in base64, and of a query. */
const [documentBytes, claimsBytes, queryBytes] = [250_000, 180_000, 14_000]
/** A member gets every `step`-th text; the next member gets others. */
const step = 5

type Json = Readonly<Record<string, unknown>>

/** Cuts a text so that its JSON has at most this many bytes. */
const fitting = (text: string, bytes: number) =>
  text.slice(0, Math.floor(text.length * Math.min(1, bytes / Buffer.byteLength(JSON.stringify(text)))))

const textsOf = (bytes: number): ReadonlyArray<readonly [name: string, text: string]> =>
  worstTexts(bytes).map(([name, text]) => [name, fitting(text, bytes)])

/** Returns values of a member that are no texts. */
const valuesOf = (bytes: number): ReadonlyArray<readonly [name: string, value: unknown]> => {
  const short = worstTexts(20).map(([, text]) => text)
  const count = Math.floor(bytes / 60)
  return [
    ["many kinds", fitting(mixedText(bytes), bytes)],
    ["many texts", Array.from({ length: count }, (_, at) => short[at % short.length])],
    ["many empty texts", Array.from({ length: 9_000 }, () => "")],
    ["many objects", Array.from({ length: 4_000 }, (_, at) => ({ kid: `key ${at}`, kty: "RSA" }))],
    ["an object of many members", Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`a${at}`, "b"]))],
    ["a long number", Number.MAX_VALUE]
  ]
}

/** Returns every `step`-th of the texts, from the one with this index. */
const nth = <A>(texts: ReadonlyArray<A>, place: number) => texts.filter((_, index) => index % step === place % step)

/** Responses that are no documents, or deep or wide ones. */
const wholes: ReadonlyArray<readonly [name: string, text: string]> = [
  ["deep lists", "[".repeat(documentBytes)],
  ["deep lists that end", "[".repeat(documentBytes / 2) + "]".repeat(documentBytes / 2)],
  ["deep objects", "{\"a\":".repeat(documentBytes / 5)],
  ["many numbers", `[${"1,".repeat(documentBytes / 2 - 2)}1]`],
  ["a long number", "1".repeat(documentBytes)],
  ["the same member", `{${"\"a\":1,".repeat(documentBytes / 6 - 2)}"a":1}`],
  ["many members", `{${Array.from({ length: 20_000 }, (_, at) => `"a${at}":1`).join(",")}}`]
]

const [discovery, token, keys, userinfo] = ["/.well-known/openid-configuration", "/token", "/keys", "/userinfo"]
const [discoveryMembers, tokenMembers, keyMembers, claims] = [
  "issuer authorization_endpoint token_endpoint jwks_uri userinfo_endpoint token_endpoint_auth_methods_supported " +
  "id_token_signing_alg_values_supported authorization_response_iss_parameter_supported other",
  "access_token token_type id_token expires_in refresh_token scope error error_description other",
  "kid alg use kty key_ops n e x5c other",
  "sub email email_verified preferred_username nickname name groups amr nonce iss aud azp iat exp other"
].map((names) => names.split(" "))

const attempt = { state: "state", nonce: "nonce", verifier: "verifier" }
const person = { sub: "1", email: "a@mail.example", email_verified: true, preferred_username: "a", groups: ["a"] }

/** Signs a person in with a client that has no document yet; `parameters` replace those of the callback. */
const signedIn = Effect.fnUntraced(function*(parameters: Readonly<Record<string, string>> = {}) {
  const provider = yield* OidcProvider
  const client = yield* OpenIdProvider.make({
    issuer: `${provider.issuer}/`,
    clientId: oidcClient.id,
    clientSecret: Redacted.make(oidcClient.secret),
    name: "Example ID",
    scopes: "openid email",
    groupsClaim: "groups",
    allowedGroups: ["a"],
    roles: [],
    signUp: true,
    only: false,
    trustFactors: true
  })
  const url = yield* client.authorizationUrl(attempt)
  const callback = yield* provider.follow(`${provider.issuer}/authorize${new URL(url).search}`)
  const { searchParams } = new URL(callback, provider.issuer)
  return yield* client.identify(new URLSearchParams({ ...Object.fromEntries(searchParams), ...parameters }), attempt)
})

const outbound = outboundTo(privateNetworks, () => true).pipe(
  Layer.provideMerge(Layer.succeed(ServerConfig, configurationOf("local.example"))),
  Layer.merge(NodeCrypto.layer),
  // Each refused sign-in is logged as a warning.
  Layer.merge(Layer.succeed(References.MinimumLogLevel, "Error"))
)

/** Measures sign-ins; those that block the event loop for too long are collected in `slow`. */
const measured = () => {
  const slow: Array<string> = []
  const counts = { succeeded: 0, failed: 0 }
  const timed = Effect.fnUntraced(function*<A, E, R>(about: string, signIn: Effect.Effect<A, E, R>) {
    let least = Infinity
    for (let tries = 0; tries < triesMax && least >= pauseMillisMax; tries++) {
      const [result, pause] = yield* pauseIn(Effect.result(signIn))
      counts[result._tag === "Success" ? "succeeded" : "failed"]++
      least = Math.min(least, pause)
    }
    if (least >= pauseMillisMax) slow.push(`${about}: ${Math.round(least)} ms`)
  })
  return { slow, timed, counts }
}

type Mistakes = Parameters<OidcProvider["Service"]["err"]>[0]

/** Returns the mistakes of a provider that sends the value in a member, by kind of response. */
const kinds: Readonly<
  Record<string, readonly [members: ReadonlyArray<string>, bytes: number, make: (members: Json) => Mistakes]>
> = {
  "the document of discovery": [
    discoveryMembers!,
    documentBytes,
    (members) => ({ texts: { [discovery]: (body) => JSON.stringify({ ...body, ...members }) } })
  ],
  "the response with tokens": [
    tokenMembers!,
    documentBytes,
    (members) => ({ texts: { [token]: (body) => JSON.stringify({ ...body, ...members }) } })
  ],
  "a key": [
    keyMembers!,
    documentBytes,
    (members) => ({
      texts: {
        [keys]: ({ keys: [key] = [] }: Json & { readonly keys?: ReadonlyArray<Json> }) =>
          JSON.stringify({ keys: [{ ...key, ...members }] })
      }
    })
  ],
  "claims of a token": [claims!, claimsBytes, (members) => ({ claims: members })],
  "claims of the userinfo endpoint": [
    claims!,
    documentBytes,
    (members) => ({ bare: true, texts: { [userinfo]: (body) => JSON.stringify({ ...body, ...members }) } })
  ]
}

describe("F104: the worst texts of an identity provider", () => {
  it.live.each(Object.entries(kinds))(
    `block the event loop for ${pauseMillisMax} ms at most: %s`,
    ([, [members, bytes, make]], { annotate }) =>
      Effect.gen(function*() {
        const provider = yield* OidcProvider
        const { counts, slow, timed } = measured()
        provider.become(person)
        const texts = textsOf(bytes)
        for (const [place, member] of members.entries()) {
          for (const [name, value] of [...nth(texts, place), ...valuesOf(bytes)]) {
            provider.err(make({ [member]: value }))
            yield* timed(`${member}, ${name}`, signedIn())
          }
        }
        annotate(JSON.stringify(counts))
        assert.deepStrictEqual(slow, [])
        assert.isAbove(counts.succeeded, 20)
        assert.isAbove(counts.failed, 20)
      }).pipe(Effect.provide([outbound, OidcProvider.layer]))
  )

  it.live(`block the event loop for ${pauseMillisMax} ms at most: whole responses, and the callback`, () =>
    Effect.gen(function*() {
      const provider = yield* OidcProvider
      const { counts, slow, timed } = measured()
      provider.become(person)
      yield* timed("without a mistake", signedIn())
      assert.deepStrictEqual(counts, { succeeded: 1, failed: 0 })
      for (const [place, path] of [discovery, token, keys, userinfo].entries()) {
        for (const [name, text] of [...nth(textsOf(documentBytes), place), ...wholes]) {
          provider.err({ bare: true, texts: { [path]: () => text } })
          yield* timed(`${path}, ${name}`, signedIn())
        }
      }
      provider.err({})
      for (const [place, name] of ["code", "state", "iss", "error", "error_description", "id_token"].entries()) {
        for (const [kind, text] of nth(textsOf(queryBytes), place)) {
          yield* timed(`${name}, ${kind}`, signedIn({ [name]: text.toWellFormed() }))
        }
      }
      assert.deepStrictEqual(slow, [])
      assert.isAbove(counts.failed, 100)
    }).pipe(Effect.provide([outbound, OidcProvider.layer])))
})
