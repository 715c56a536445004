import { assert, layer } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { codeMillisMax, Grants } from "../../../src/services/oauth/Grants.ts"
import { Tokens } from "../../../src/services/oauth/Tokens.ts"
import { client, user } from "../../support/SignedIn.ts"
import { services } from "../../support/WebServer.ts"

layer(services)("Grants", (it) => {
  it.effect("S-254 a code is valid for ten minutes, its token forever", () =>
    Effect.gen(function*() {
      const [grants, tokens] = [yield* Grants, yield* Tokens]
      const accountId = yield* user("gerda")
      const { id: appId, redirectUri } = yield* client("read")
      const make = grants.create({ appId, accountId, redirectUri, scopes: ["read"], codeChallenge: undefined })
      const exchange = (code: Redacted.Redacted) =>
        grants.exchange({ appId, code: Redacted.value(code), redirectUri, codeVerifier: undefined })
      const [early, late] = [yield* make, yield* make]
      yield* TestClock.adjust(codeMillisMax - 1)
      const { secret } = yield* exchange(early)
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* Effect.flip(exchange(late)))._tag, "InvalidGrant")
      yield* TestClock.adjust("30 days")
      const found = yield* tokens.find(secret)
      assert.deepInclude(Option.getOrThrow(found), { accountId, revoked: false, state: "active" })
    }))

  it.effect("an earlier grant is recognised by its scopes, in any order, until it is revoked", () =>
    Effect.gen(function*() {
      const [grants, tokens] = [yield* Grants, yield* Tokens]
      const accountId = yield* user("hugo")
      const { id: appId } = yield* client("read write")
      const allowed = (...scopes: ReadonlyArray<string>) => grants.allowed(accountId, appId, scopes)
      assert.isFalse(yield* allowed("read"))
      yield* tokens.issue({ appId, accountId }, ["write", "read"])
      assert.isTrue(yield* allowed("read", "write"))
      assert.isFalse(yield* allowed("read"))
      yield* tokens.revoke({ accountId, appId })
      assert.isFalse(yield* allowed("read", "write"))
    }))
})
