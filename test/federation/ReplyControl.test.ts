import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled, type TestInstance, type TestUser } from "../support/Fediverse.ts"

const local = (by: TestUser, uri: string) =>
  Effect.map(
    by.ask("GET", `/api/v2/search?resolve=true&type=statuses&q=${encodeURIComponent(uri)}`),
    ({ statuses: [found] }) => found
  )
/** Returns the replies that a viewer sees below a post. */
const below = Effect.fnUntraced(function*(by: TestUser, uri: string) {
  const { id } = yield* local(by, uri)
  const { descendants } = yield* by.ask("GET", `/api/v1/statuses/${id}/context`)
  return descendants.map(({ content }: { content: string }) => content.replace(/<[^>]*>/g, ""))
})
const requests = (by: TestUser) => by.ask("GET", "/api/v1/interaction_requests")
const document = Effect.fnUntraced(function*(at: TestInstance, uri: string) {
  const response = yield* at.fetch(new URL(uri).pathname, { headers: { accept: "application/activity+json" } })
  // Tests read bodies of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  const body: any = response.ok ? yield* Effect.promise(() => response.json()) : undefined
  return { status: response.status, body }
})
const status = (at: TestInstance, by: TestUser, method: string, path: string, json?: unknown) =>
  Effect.map(
    at.fetch(path, { method, token: by.token, ...(json === undefined ? {} : { json }) }),
    (response) => response.status
  )

it.live(
  "row 21: replies, favourites and boosts wait across servers, are shown with consent that a third server checks, and end with it",
  () =>
    Effect.gen(function*() {
      const [here, there, elsewhere] = yield* fediverse(3)
      const done = settled([here!, there!, elsewhere!])
      const anna = yield* here!.person("anna")
      const [zoe, tom] = [yield* there!.person("zoe"), yield* there!.person("tom")]
      const max = yield* elsewhere!.person("max")
      for (const other of [anna, zoe]) yield* max.follow(other)
      yield* zoe.follow(anna)
      yield* done
      const post = yield* anna.post("ask me", {
        interaction_policy: {
          can_reply: { automatic_approval: ["followers"], manual_approval: ["public"] },
          can_favourite: { manual_approval: ["public"] },
          can_reblog: { manual_approval: ["public"] }
        }
      })
      yield* done
      const atTom = yield* local(tom, post.uri)
      assert.deepStrictEqual(atTom.interaction_policy.can_reply.manual_approval, ["public", "me"])
      const asked = yield* tom.post("may I", { in_reply_to_id: atTom.id })
      assert.strictEqual(asked.visibility, "direct")
      const marked = yield* tom.ask("POST", `/api/v1/statuses/${atTom.id}/favourite`)
      assert.deepStrictEqual([marked.favourited, marked.favourites_count], [true, 0])
      yield* zoe.ask("POST", `/api/v1/statuses/${(yield* local(zoe, post.uri)).id}/reblog`)
      // A follower's reply is accepted at once.
      const free = yield* zoe.post("I follow", { in_reply_to_id: (yield* local(zoe, post.uri)).id })
      yield* done
      for (const by of [anna, zoe, max]) assert.notInclude(yield* below(by, post.uri), "may I")
      for (const by of [anna, zoe]) assert.include(yield* below(by, post.uri), "I follow")
      // A third server verifies the consent first.
      yield* eventually(below(max, post.uri), (all) => all.includes("I follow"))
      assert.strictEqual((yield* zoe.ask("GET", `/api/v1/statuses/${free.id}`)).visibility, "public")
      assert.notInclude((yield* max.home).map(({ uri }) => uri), asked.uri)
      assert.includeMembers([...yield* anna.notifications], [
        "pending.reply tom",
        "pending.favourite tom",
        "pending.reblog zoe"
      ])
      const all = yield* requests(anna)
      assert.deepStrictEqual(all.map(({ type }: { type: string }) => type).toSorted(), ["favourite", "reblog", "reply"])
      assert.strictEqual((yield* document(there!, asked.uri)).status, 404)
      for (const { id } of all) yield* anna.ask("POST", `/api/v1/interaction_requests/${id}/authorize`)
      yield* done
      for (const by of [anna, zoe, tom]) assert.sameMembers(yield* below(by, post.uri), ["may I", "I follow"])
      const seen = yield* anna.ask("GET", `/api/v1/statuses/${post.id}`)
      assert.deepStrictEqual([seen.replies_count, seen.favourites_count, seen.reblogs_count], [2, 1, 1])
      assert.strictEqual((yield* tom.ask("GET", `/api/v1/statuses/${atTom.id}`)).favourites_count, 1)
      yield* eventually(local(max, post.uri), (one) => one.reblogs_count === 1)
      // The reply's document names the consent, which exists and names the reply.
      const { body: note } = yield* document(there!, asked.uri)
      const { body: stamp } = yield* document(here!, note.replyAuthorization)
      assert.strictEqual(note.approvedBy, note.replyAuthorization)
      assert.deepInclude(stamp, {
        type: "ReplyAuthorization",
        attributedTo: anna.uri,
        interactingObject: asked.uri,
        interactionTarget: post.uri
      })
      // A third server that finds the reply trusts only the verified consent.
      yield* local(max, asked.uri)
      yield* eventually(below(max, post.uri), (all) => all.length === 2)
      // Revoked: the consent and the reply in the thread are gone everywhere.
      const known = yield* local(anna, asked.uri)
      yield* anna.ask("POST", `/api/v1/statuses/${post.id}/replies/${known.id}/remove`)
      yield* done
      assert.strictEqual((yield* document(here!, note.replyAuthorization)).status, 404)
      for (const by of [anna, tom, max]) assert.deepStrictEqual(yield* below(by, post.uri), ["I follow"])

      // A rejected reply is visible only to its author.
      const rude = yield* tom.post("rude", { in_reply_to_id: atTom.id })
      yield* done
      const [request] = yield* requests(anna)
      yield* anna.ask("POST", `/api/v1/interaction_requests/${request.id}/reject`)
      yield* done
      const detached = yield* tom.ask("GET", `/api/v1/statuses/${rude.id}`)
      assert.deepStrictEqual([detached.in_reply_to_id, detached.visibility], [null, "direct"])
      assert.deepStrictEqual(yield* requests(anna), [])
      const rows = yield* here!.sql`SELECT id FROM statuses WHERE uri = ${rude.uri} AND deleted_at IS NULL`
      assert.deepStrictEqual(rows, [])

      // If replies are allowed to no one, local accounts cannot reply: no request is sent.
      const closed = yield* anna.post("no", {
        interaction_policy: {
          can_reply: { always: ["author"] },
          can_favourite: { always: [] },
          can_reblog: { always: ["me"] }
        }
      })
      yield* done
      const { id } = yield* local(zoe, closed.uri)
      assert.strictEqual(
        yield* status(there!, zoe, "POST", "/api/v1/statuses", { status: "x", in_reply_to_id: id }),
        403
      )
      assert.strictEqual(yield* status(there!, zoe, "POST", `/api/v1/statuses/${id}/favourite`), 403)
      assert.strictEqual(yield* status(there!, zoe, "POST", `/api/v1/statuses/${id}/reblog`), 403)
      // A pending favourite that is undone can no longer be approved.
      const last = yield* anna.post("last", { interaction_policy: { can_favourite: { manual_approval: ["public"] } } })
      yield* done
      const atZoe = yield* local(zoe, last.uri)
      yield* zoe.ask("POST", `/api/v1/statuses/${atZoe.id}/favourite`)
      yield* done
      assert.strictEqual((yield* requests(anna)).length, 1)
      yield* zoe.ask("POST", `/api/v1/statuses/${atZoe.id}/unfavourite`)
      yield* done
      assert.deepStrictEqual(yield* requests(anna), [])
    }).pipe(Effect.scoped)
)
