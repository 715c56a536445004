import { NodeCrypto } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { outboundTo, privateNetworks } from "../../../src/layers/outbound/ConfiguredHosts.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import * as OpenIdProvider from "../../../src/services/oidc/OpenIdProvider.ts"
import { identityOf } from "../../../src/services/oidc/ProviderIdentity.ts"
import { configurationOf } from "../../support/Configuration.ts"
import { jumpingClock } from "../../support/JumpingClock.ts"
import { OidcProvider } from "../../support/OidcProvider.ts"

const attempt = { state: "state", nonce: "nonce", verifier: "verifier" }
const document = "/.well-known/openid-configuration"

const clientOf = (issuer: string) =>
  OpenIdProvider.make({
    issuer,
    clientId: "us",
    clientSecret: Redacted.make("secret"),
    name: "Example ID",
    scopes: "openid email",
    groupsClaim: "groups",
    allowedGroups: undefined,
    roles: [],
    signUp: false,
    only: false,
    trustFactors: false
  })

const outbound = outboundTo(privateNetworks, () => true).pipe(
  Layer.provideMerge(Layer.succeed(ServerConfig, configurationOf("local.example"))),
  Layer.merge(NodeCrypto.layer)
)

describe("row 87: OpenIdProvider", () => {
  it.live("sends the person to the provider with PKCE, state and nonce", () =>
    Effect.gen(function*() {
      const { issuer } = yield* OidcProvider
      const { authorizationUrl } = yield* clientOf(`${issuer}/`)
      const url = new URL(yield* authorizationUrl(attempt))
      assert.strictEqual(url.origin + url.pathname, `${issuer}/authorize`)
      assert.deepStrictEqual(Object.fromEntries(url.searchParams), {
        client_id: "us",
        redirect_uri: "https://local.example/auth/auth/openid_connect/callback",
        response_type: "code",
        scope: "openid email",
        state: "state",
        nonce: "nonce",
        code_challenge: "iMnq5o6zALKXGivsnlom_0F5_WYda32GHkxlV7mq7hQ",
        code_challenge_method: "S256"
      })
    }).pipe(Effect.provide([outbound, OidcProvider.layer])))

  it.live("a failing provider gets one request in five seconds; documents are refetched after an hour", () =>
    Effect.gen(function*() {
      const [clock, provider] = [yield* jumpingClock, yield* OidcProvider]
      const { authorizationUrl } = yield* clientOf(`${provider.issuer}/`)
      const visits = (count: number) =>
        clock.within(
          Effect.forEach(Array.from({ length: count }), () => Effect.result(authorizationUrl(attempt)), {
            concurrency: "unbounded"
          })
        )
      provider.err({ status: 500 })
      assert.deepStrictEqual([...new Set((yield* visits(20)).map(({ _tag }) => _tag))], ["Failure"])
      assert.strictEqual(provider.count(document), 1)
      provider.err({})
      assert.deepStrictEqual((yield* visits(1)).map(({ _tag }) => _tag), ["Failure"])
      clock.jump(5_000)
      assert.deepStrictEqual([...new Set((yield* visits(20)).map(({ _tag }) => _tag))], ["Success"])
      assert.strictEqual(provider.count(document), 2)
      clock.jump(3_600_000)
      yield* visits(3)
      assert.strictEqual(provider.count(document), 3)
    }).pipe(Effect.provide([outbound, OidcProvider.layer])))

  it.live("refuses the document of another issuer, and an issuer without TLS outside of private networks", () =>
    Effect.gen(function*() {
      const { issuer } = yield* OidcProvider
      const port = new URL(issuer).port
      for (
        const wrong of [
          `http://localhost:${port}/`,
          `${issuer}/realms/x`,
          "http://192.0.2.1/",
          "http://169.254.169.254/"
        ]
      ) {
        const { authorizationUrl } = yield* clientOf(wrong)
        assert.strictEqual((yield* Effect.flip(authorizationUrl(attempt)))._tag, "ProviderFailed", wrong)
      }
    }).pipe(Effect.provide([outbound, OidcProvider.layer])))
})

describe("identityOf", () => {
  const of = (token: object, info: object = {}, claim = "groups") =>
    identityOf("issuer", "subject", { ...token }, { ...info }, claim)

  it("an address is verified by its own source only", () => {
    const [mine, other] = ["a@mail.example", "b@mail.example"]
    const addressOf = (token: object, info?: object): ReadonlyArray<string | boolean | undefined> => {
      const { email, emailVerified } = of(token, info)
      return [email, emailVerified]
    }
    assert.deepStrictEqual(addressOf({ email: mine, email_verified: true }, { email: other }), [mine, true])
    assert.deepStrictEqual(addressOf({ email: mine }, { email_verified: true }), [mine, false])
    assert.deepStrictEqual(addressOf({ email_verified: true }, { email: other }), [other, false])
    assert.deepStrictEqual(addressOf({ email: mine }, { email: other, email_verified: true }), [other, true])
    assert.deepStrictEqual(addressOf({ email: "no address", email_verified: true }), [undefined, false])
  })

  it("suggested usernames are valid; groups are bounded and may be nested", () => {
    const names: ReadonlyArray<readonly [object, string]> = [
      [{ preferred_username: "Zoë.Müller@corp.example" }, "Zoe_Muller"],
      [{ preferred_username: "日本", nickname: "nippon" }, "nippon"],
      [{ preferred_username: "__x__" }, "x"],
      [{ preferred_username: "a".repeat(5_000) }, "a".repeat(30)],
      [{ preferred_username: 7, email: "amy.lee@mail.example" }, "amy_lee"],
      [{ name: "<b>" }, "b"],
      [{}, ""]
    ]
    for (const [claims, username] of names) assert.strictEqual(of(claims).username, username)
    const nested = { realm_access: { roles: ["a", "", 1, "x".repeat(256), "b"] }, "https://x.example/groups": "c" }
    assert.deepStrictEqual(of(nested, {}, "realm_access.roles").groups, ["a", "b"])
    assert.deepStrictEqual(of(nested, {}, "https://x.example/groups").groups, ["c"])
    for (const claim of ["realm_access.none", "constructor.name", "__proto__", "realm_access.roles.length"]) {
      assert.deepStrictEqual(of(nested, {}, claim).groups, [], claim)
    }
    assert.strictEqual(of({ groups: Array.from({ length: 5_000 }, String) }).groups.length, 1_000)
  })
})
