import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ObjectFetcher } from "../../../src/services/federation/ObjectFetcher.ts"
import { WebFingers } from "../../../src/services/federation/WebFingers.ts"
import { Outbound } from "../../../src/services/outbound/Outbound.ts"
import { ErrorResponse } from "../../../src/services/outbound/OutboundError.ts"
import { LiveImports } from "../../../src/services/transfers/live/LiveImports.ts"
import { LiveSources } from "../../../src/services/transfers/live/LiveSources.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { abandon } from "../../support/Archives.ts"
import { account, actor, liveServices, origin, run, source, sourceOf } from "../../support/LiveServer.ts"
import { user } from "../../support/SignedIn.ts"

layer(liveServices, { excludeTestServices: true })("consent for imports from other servers", (it) => {
  it.effect("a confirmation before the consent, and a response with another state, change nothing", () =>
    Effect.gen(function*() {
      const [owner, other] = [yield* user("dan"), yield* user("dora")]
      const imports = yield* LiveImports
      const from = sourceOf(account(1))
      const { id } = yield* imports.begin(owner, actor)
      const waiting = yield* run(from, owner, id)
      assert.strictEqual(
        (yield* Effect.flip(imports.confirm(owner, id, { withFollows: true, withBlocks: true, withLikes: true })))._tag,
        "RecordNotFound"
      )
      const state = new URL((yield* imports.authorization(waiting))!).searchParams.get("state")!
      const response = (given: string) => new URLSearchParams({ code: "x", state: given })
      for (const [by, given] of [[other, state], [owner, `${id}-x`], [owner, ""], [owner, "999"]] as const) {
        assert.strictEqual((yield* Effect.flip(imports.authorized(by, response(given))))._tag, "RecordNotFound")
      }
      assert.strictEqual(
        (yield* Effect.flip(imports.authorized(owner, new URLSearchParams({ state, error: "access_denied" }))))._tag,
        "Unprocessable"
      )
      assert.strictEqual((yield* (yield* Transfers).find(owner, id)).state, "unconfirmed")
      // A second import waits for the first.
      assert.strictEqual((yield* Effect.flip(imports.begin(owner, actor)))._tag, "Unprocessable")
      assert.strictEqual((yield* Effect.flip(imports.begin(other, " ")))._tag, "Unprocessable")
      yield* abandon(id)
    }))

  it.effect("F288: consent is valid for the account that the OAuth server names, on the server of that account", () =>
    Effect.gen(function*() {
      const owner = yield* user("eli")
      const imports = yield* LiveImports
      const transfers = yield* Transfers
      const elsewhere = { ...source, authorizationEndpoint: "https://auth.example/authorize" }
      const attempt = Effect.fnUntraced(function*(at: typeof source, more: Readonly<Record<string, string>>) {
        const from = sourceOf(account(1), () => undefined, at)
        const { id } = yield* imports.begin(owner, actor)
        const state = new URL((yield* imports.authorization(yield* run(from, owner, id)))!).searchParams.get("state")!
        const response = yield* Effect.result(
          imports.authorized(owner, new URLSearchParams({ code: "code", state, ...more }))
        )
        yield* transfers.cancel(owner, id)
        return response._tag === "Success" ? response.success.state : response.failure._tag
      })
      const named = { activitypub_actor: actor }
      const cases = [
        [source, {}, "scheduled"],
        [source, { iss: `${origin}/`, activitypub_actor: `${origin}/users/other` }, "scheduled"],
        [elsewhere, named, "scheduled"],
        // The OAuth server does not confirm this account's server, which would get the token.
        [elsewhere, {}, "Unprocessable"],
        [source, { activitypub_actor: "https://evil.example/users/ann" }, "Unprocessable"],
        [source, { activitypub_actor: "no url" }, "Unprocessable"],
        // A response of another OAuth server, to which the first one redirected the user (RFC 9207).
        [source, { ...named, iss: "https://evil.example" }, "Unprocessable"],
        [elsewhere, { ...named, iss: origin }, "Unprocessable"],
        [source, { activitypub_actor: `${origin}/users/\0` }, "scheduled"]
      ] as const
      for (const [at, more, expected] of cases) assert.strictEqual(yield* attempt(at, more), expected)
      assert.strictEqual((yield* Effect.flip(imports.begin(owner, "ann\0@old.example")))._tag, "Unprocessable")
    }))

  it.effect("the token is sent to the origin of the actor only, and pages of other origins are not read", () =>
    Effect.gen(function*() {
      const sent: Array<readonly [string, object]> = []
      const outbound = Layer.mock(Outbound)({
        json: ({ sign, url }) =>
          Effect.gen(function*() {
            for (const asked of [url, "https://cdn.example/elsewhere"]) {
              sent.push([new URL(asked).origin, yield* sign!(new URL(asked))])
            }
            return yield* new ErrorResponse({ url, status: 429, retryAfterSeconds: 77 })
          })
      })
      const sources = yield* Effect.provide(
        LiveSources,
        Layer.fresh(LiveSources.layer).pipe(
          Layer.provide([outbound, Layer.mock(ObjectFetcher)({}), Layer.mock(WebFingers)({})])
        )
      )
      const failed = yield* Effect.flip(sources.read(source, "secret", actor))
      assert.deepInclude(failed, { problem: "silent", retrySeconds: 77 })
      assert.deepStrictEqual(sent, [[origin, { authorization: "Bearer secret" }], ["https://cdn.example", {}]])
      const elsewhere = yield* Effect.flip(sources.read(source, "secret", "https://cdn.example/page"))
      assert.deepInclude(elsewhere, { problem: "unreadable_source", retrySeconds: undefined })
      assert.lengthOf(sent, 2)
    }))
})
