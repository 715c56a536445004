import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, newPerson, settled } from "../../support/Api.ts"
import { act, only, reply, requests } from "../../support/InteractionCalls.ts"
import { follow } from "../../support/ListCalls.ts"
import { decodeStatus, post, show } from "../../support/QuoteCalls.ts"
import { type Person, TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true })("interaction policies", (it) => {
  it.effect("row 21, D-009: new, edited and scheduled posts take a policy in both formats; invalid ones are refused", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna")
      const plain = yield* post(anna, "plain")
      assert.notProperty(plain, "interaction_policy")
      const one = yield* post(anna, "one", {
        interaction_policy: {
          can_reply: { always: ["followers"], with_approval: ["public"] },
          can_reblog: { always: ["me"] }
        }
      })
      const { interaction_policy: policy } = one
      assert.deepStrictEqual(policy?.can_reply.automatic_approval, ["followers", "author", "mentioned", "me"])
      assert.deepStrictEqual(policy?.can_reply.manual_approval, ["public"])
      assert.deepStrictEqual(policy?.can_reply.with_approval, ["public"])
      assert.deepStrictEqual(policy?.can_reblog.always, ["author", "me"])
      assert.deepStrictEqual(policy?.can_favourite.always, ["public", "me"])
      const edited = yield* ask(anna, "PUT", `/api/v1/statuses/${one.id}`, {
        status: "one",
        interaction_policy: { can_favourite: { automatic_approval: "mutuals" } },
        quote_approval_policy: "nobody"
      })
      const after = yield* decodeStatus(edited.body)
      assert.deepStrictEqual(after.interaction_policy?.can_favourite.automatic_approval, ["mutuals", "author", "me"])
      assert.deepStrictEqual(after.interaction_policy?.can_reply.automatic_approval, ["public", "me"])
      assert.deepStrictEqual(after.quote_approval.automatic, [])
      assert.isNull(after.edited_at)
      const open = yield* ask(anna, "PUT", `/api/v1/statuses/${one.id}`, { status: "one", interaction_policy: {} })
      assert.notProperty(open.body, "interaction_policy")
      const waiting = yield* ask(anna, "POST", "/api/v1/statuses", {
        status: "later",
        scheduled_at: "2099-01-01T00:00:00Z",
        ...only("can_reply", ["https://example.com/users/x"])
      })
      assert.deepStrictEqual(waiting.body.params.interaction_policy.can_reply.automatic_approval, [
        "https://example.com/users/x",
        "author",
        "mentioned"
      ])
      for (
        const who of [
          ["everybody"],
          ["javascript:1"],
          [`https://example.com/${"x".repeat(500)}`],
          ["a:b"],
          [
            "public",
            ""
          ].concat(Array.from({ length: 21 }, (_, at) => `https://example.com/${at}`))
        ]
      ) {
        const { status } = yield* ask(anna, "POST", "/api/v1/statuses", { status: "x", ...only("can_reply", who) })
        assert.strictEqual(status, 422, String(who))
      }
      // Values that are not a policy are ignored.
      for (const given of ["", null, "public", 7, []]) {
        const { status } = yield* ask(anna, "POST", "/api/v1/statuses", { status: "x", interaction_policy: given })
        assert.include([200, 400, 422], status, JSON.stringify(given))
      }
    }))

  it.effect("row 21: default policies, by visibility; omitted ones are reset", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna2")
      const path = "/api/v1/interaction_policies/defaults"
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body.public.can_reply.always, ["public"])
      const { body, status } = yield* ask(anna, "PATCH", path, {
        public: { can_reply: { automatic_approval: ["followers"] } },
        private: { can_favourite: { automatic_approval: ["author"] } }
      })
      assert.strictEqual(status, 200)
      assert.deepStrictEqual(body.public.can_reply.always, ["followers", "author", "mentioned"])
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body, body)
      const given = (visibility: string) =>
        Effect.map(post(anna, visibility, { visibility }), (one) => one.interaction_policy)
      assert.deepStrictEqual((yield* given("public"))?.can_reply.always, ["followers", "author", "mentioned", "me"])
      assert.isUndefined(yield* given("unlisted"))
      assert.deepStrictEqual((yield* given("private"))?.can_favourite.always, ["author", "me"])
      assert.notProperty(yield* post(anna, "open", { interaction_policy: {} }), "interaction_policy")
      assert.strictEqual((yield* ask(anna, "PATCH", path, { public: { can_reply: { always: ["x"] } } })).status, 422)
      yield* ask(anna, "PATCH", path, { unlisted: null })
      assert.isUndefined(yield* given("public"))
      assert.strictEqual((yield* ask(undefined, "GET", path)).status, 401)
    }))

  it.effect("row 21: a forbidden interaction is refused with a message; mentioned and followed accounts and the author are allowed", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna3"), yield* newPerson("ben3"), yield* newPerson("cleo3")]
      yield* follow(ben, anna)
      yield* settled
      const closed = yield* post(anna, "for few", {
        interaction_policy: {
          can_reply: { automatic_approval: ["followers"] },
          can_favourite: { automatic_approval: ["followers"] },
          can_reblog: { automatic_approval: ["author"] }
        }
      })
      const refused = yield* reply(cleo, closed)
      assert.deepStrictEqual([refused.status, refused.body.error], [
        403,
        "The author of this post does not allow you to reply to it"
      ])
      assert.strictEqual((yield* act(cleo, closed, "favourite")).status, 403)
      const reaction = `/api/v1/pleroma/statuses/${closed.id}/reactions/${encodeURIComponent("👍")}`
      assert.strictEqual((yield* ask(cleo, "PUT", reaction)).status, 403)
      assert.strictEqual((yield* act(ben, closed, "reblog")).status, 403)
      const scheduled = yield* reply(cleo, closed, "later", { scheduled_at: "2099-01-01T00:00:00Z" })
      assert.strictEqual(scheduled.status, 403)
      assert.strictEqual((yield* act(ben, closed, "favourite")).body.favourited, true)
      const { body: responded, status } = yield* reply(ben, closed)
      assert.deepStrictEqual([status, responded.visibility], [200, "public"])
      assert.strictEqual((yield* act(anna, closed, "reblog")).status, 200)
      assert.strictEqual((yield* show(anna, closed)).replies_count, 1)
      assert.strictEqual((yield* show(anna, closed)).favourites_count, 1)
      assert.deepStrictEqual((yield* requests(anna)).body, [])
      // Policies shown to each reader, on every path.
      const asking = yield* post(anna, "@cleo3 ask", {
        interaction_policy: {
          can_reply: { manual_approval: ["followers"] },
          can_favourite: { automatic_approval: ["followers"] }
        }
      })
      const rules = (by: Person | undefined, id = asking.id) =>
        Effect.map(show(by, { id }), ({ interaction_policy: policy }) => [
          policy?.can_reply.always.includes("me"),
          policy?.can_reply.with_approval.includes("me"),
          policy?.can_favourite.automatic_approval.includes("me"),
          policy?.can_reblog.always.includes("me")
        ])
      assert.deepStrictEqual(yield* rules(anna), [true, false, true, true])
      assert.deepStrictEqual(yield* rules(ben), [false, true, true, true])
      assert.deepStrictEqual(yield* rules(cleo), [true, false, false, true])
      assert.deepStrictEqual(yield* rules(undefined), [false, false, false, false])
      const { body: [boosted] } = yield* ask(ben, "POST", `/api/v1/statuses/${asking.id}/reblog`)
        .pipe(Effect.andThen(ask(cleo, "GET", `/api/v1/accounts/${ben.accountId}/statuses?limit=1`)))
      assert.notProperty(boosted, "interaction_policy")
      assert.deepStrictEqual(boosted.reblog.interaction_policy.can_reply.automatic_approval, [
        "author",
        "mentioned",
        "me"
      ])
      // Mentioned accounts may always reply; a single account is named by its id.
      const naming = yield* post(anna, "@cleo3 what do you say", only("can_reply", []))
      assert.strictEqual((yield* reply(cleo, naming)).status, 200)
      assert.strictEqual((yield* reply(ben, naming)).status, 403)
      const { body: who } = yield* ask(anna, "GET", `/api/v1/accounts/${cleo.accountId}`)
      const single = yield* post(anna, "one of you", only("can_reply", [who.uri]))
      assert.strictEqual((yield* reply(cleo, single)).status, 200)
      assert.strictEqual((yield* reply(ben, single)).status, 403)
      const mutual = yield* post(anna, "friends", only("can_favourite", ["mutuals"]))
      assert.strictEqual((yield* act(ben, mutual, "favourite")).status, 403)
      yield* follow(anna, ben)
      yield* settled
      assert.strictEqual((yield* act(ben, mutual, "favourite")).status, 200)
      // Behaves like any favourite.
      const { body: undone } = yield* act(ben, mutual, "unfavourite")
      assert.deepStrictEqual([undone.favourited, undone.favourites_count], [false, 0])
    }))
})
