import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { settled, startInstance, type TestUser } from "../support/Fediverse.ts"
import { keyOperations, listener } from "./Listener.ts"
import { note, sendTo } from "./SentActivity.ts"

const everybody = "https://www.w3.org/ns/activitystreams#Public"

/** Sets up Anna here, and Zoe, who follows her from a server that only listens. */
const stage = Effect.gen(function*() {
  const here = yield* startInstance()
  const there = yield* listener()
  const anna = yield* here.person("anna")
  const zoe = yield* there.actor("zoe")
  const say = sendTo(here, zoe)
  yield* say({ id: `${zoe.id}#follow`, type: "Follow", object: anna.uri })
  yield* settled([here])
  return { anna, done: settled([here]), here, say, there, zoe }
})

const getAs = (by: TestUser, path: string) => by.ask("GET", path)

it.live(
  "S-009, S-010, S-264: a remote inbox receives what followers receive, signed by the account, with contexts",
  () =>
    Effect.gen(function*() {
      const { anna, done, there, zoe } = yield* stage
      const [accept] = there.take("Accept")
      assert.deepStrictEqual(accept?.activity.object, {
        id: `${zoe.id}#follow`,
        type: "Follow",
        actor: zoe.id,
        object: anna.uri
      })
      assert.strictEqual(accept?.keyId, `${anna.uri}#main-key`)
      assert.strictEqual(accept?.headers["content-type"], "application/activity+json")

      const post = yield* anna.post("pinned")
      yield* done
      const [create] = there.take("Create")
      assert.strictEqual(create?.activity["@context"][0], "https://www.w3.org/ns/activitystreams")
      assert.deepInclude(create?.activity, { actor: anna.uri, to: [everybody], cc: [`${anna.uri}/followers`] })
      assert.strictEqual(create?.activity.object.id, post.uri)
      yield* anna.ask("POST", `/api/v1/statuses/${post.id}/pin`)
      yield* done
      yield* anna.ask("POST", `/api/v1/statuses/${post.id}/unpin`)
      yield* done
      const pins = there.received.splice(0).map(({ activity: { object, target, type } }) => ({ object, target, type }))
      const pinned = { object: post.uri, target: `${anna.uri}/collections/featured` }
      assert.deepStrictEqual(pins, [{ ...pinned, type: "Add" }, { ...pinned, type: "Remove" }])

      yield* anna.ask("PATCH", "/api/v1/accounts/update_credentials", { display_name: "Anna B." })
      yield* done
      const [update] = there.take("Update")
      assert.deepInclude(update?.activity.object, { id: anna.uri, type: "Person", name: "Anna B." })
      assert.isUndefined(update?.activity.object["@context"])

      yield* anna.ask("PUT", `/api/v1/statuses/${post.id}`, { status: "edited" })
      yield* done
      const [edit] = there.take("Update")
      assert.include(edit?.activity.object.content, "edited")
      assert.isString(edit?.activity.object.updated)
      yield* anna.ask("POST", `/api/v1/statuses/${post.id}/reblog`)
      yield* done
      assert.deepInclude(there.take("Announce")[0]?.activity, { actor: anna.uri, object: post.uri })
      yield* anna.ask("POST", `/api/v1/statuses/${post.id}/unreblog`)
      yield* done
      assert.deepInclude(there.take("Undo")[0]?.activity.object, { type: "Announce", object: post.uri })
      yield* anna.ask("DELETE", `/api/v1/statuses/${post.id}`)
      yield* done
      const [gone] = there.take("Delete")
      assert.deepInclude(gone?.activity, { to: [everybody] })
      assert.deepStrictEqual(gone?.activity.object, { id: post.uri, type: "Tombstone", atomUri: post.uri })
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)

it.live(
  "S-011, S-264, row 20: a forwarded report comes from the server itself and names no reporter",
  () =>
    Effect.gen(function*() {
      const { anna, done, say, there, zoe } = yield* stage
      const mention = { cc: [anna.uri], tag: [{ type: "Mention", href: anna.uri }] }
      yield* say({ id: `${zoe.id}#create`, type: "Create", object: note(zoe, "rude", mention) })
      yield* done
      there.received.length = 0
      const { id } = yield* anna.find({ handle: `zoe@${there.domain}` })
      const [post] = yield* getAs(anna, `/api/v1/accounts/${id}/statuses`)
      const report = { account_id: id, status_ids: [post.id], comment: "rude" }
      yield* anna.ask("POST", "/api/v1/reports", { ...report, forward: false })
      yield* done
      assert.isEmpty(there.received)
      yield* anna.ask("POST", "/api/v1/reports", { ...report, forward: true })
      yield* done
      const [flag] = there.take("Flag")
      const instance = `${new URL(anna.uri).origin}/actor`
      assert.deepInclude(flag?.activity, { actor: instance, object: [zoe.id, `${zoe.id}/notes/rude`], content: "rude" })
      assert.strictEqual(flag?.keyId, `${instance}#main-key`)
      assert.notInclude(JSON.stringify(flag?.activity), "anna")
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)

it.live(
  "likes, follows and blocks are sent, undone by their ids, and reach no other server",
  () =>
    Effect.gen(function*() {
      const { anna, done, say, there, zoe } = yield* stage
      const mention = { cc: [anna.uri], tag: [{ type: "Mention", href: anna.uri }] }
      yield* say({ id: `${zoe.id}#create`, type: "Create", object: note(zoe, "nice", mention) })
      yield* done
      there.received.length = 0
      const { id } = yield* anna.find({ handle: `zoe@${there.domain}` })
      const [post] = yield* getAs(anna, `/api/v1/accounts/${id}/statuses`)
      const steps = [
        [`/api/v1/statuses/${post.id}/favourite`, "Like", `${zoe.id}/notes/nice`],
        [`/api/v1/statuses/${post.id}/unfavourite`, "Undo", "Like"],
        [`/api/v1/accounts/${id}/follow`, "Follow", zoe.id],
        [`/api/v1/accounts/${id}/unfollow`, "Undo", "Follow"],
        [`/api/v1/accounts/${id}/block`, "Block", zoe.id],
        [`/api/v1/accounts/${id}/unblock`, "Undo", "Block"]
      ] as const
      let last = ""
      for (const [path, type, object] of steps) {
        yield* anna.ask("POST", path)
        yield* done
        const [activity] = there.take(type).map((found) => found.activity)
        assert.strictEqual(activity.actor, anna.uri, path)
        if (type === "Undo") {
          assert.strictEqual(activity.object.type, object, path)
          assert.strictEqual(activity.object.id, last, path)
        } else {
          assert.strictEqual(activity.object, object, path)
          last = activity.id
        }
      }
      assert.isTrue(last.startsWith(`${anna.uri}#`))
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)

it.live(
  "a repeated follow is accepted again, a follow by a blocked account is rejected",
  () =>
    Effect.gen(function*() {
      const { anna, done, say, there, zoe } = yield* stage
      there.received.length = 0
      yield* say({ id: `${zoe.id}#again`, type: "Follow", object: anna.uri })
      yield* done
      assert.strictEqual(there.take("Accept")[0]?.activity.object.id, `${zoe.id}#again`)
      const { id } = yield* anna.find({ handle: `zoe@${there.domain}` })
      yield* anna.ask("POST", `/api/v1/accounts/${id}/block`)
      yield* done
      const told = there.received.splice(0).map(({ activity: { object, type } }) => [type, object.id ?? object])
      assert.deepStrictEqual(told, [["Reject", `${zoe.id}#again`], ["Block", zoe.id]])
      yield* say({ id: `${zoe.id}#third`, type: "Follow", object: anna.uri })
      yield* done
      assert.strictEqual(there.take("Reject")[0]?.activity.object.id, `${zoe.id}#third`)
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)

it.live(
  "a boost of the author's own followers-only post embeds the post, which others could not fetch",
  () =>
    Effect.gen(function*() {
      const { anna, done, there } = yield* stage
      const post = yield* anna.post("for followers", { visibility: "private" })
      yield* done
      const [create] = there.take("Create")
      assert.deepStrictEqual(create?.activity.to, [`${anna.uri}/followers`])
      const digest = createHash("sha256").update(`${there.url}/users/zoe`).digest("hex")
      assert.include(create?.headers["collection-synchronization"], `digest="${digest}"`)
      yield* anna.ask("POST", `/api/v1/statuses/${post.id}/reblog`)
      yield* done
      assert.deepInclude(there.take("Announce")[0]?.activity.object, { id: post.uri, type: "Note" })
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)
