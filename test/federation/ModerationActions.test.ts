import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled, settledWithRetries, type TestUser } from "../support/Fediverse.ts"
import { staffMember } from "../support/Staff.ts"

/** Sets up Anna here, and Zoe, who follows her from a second server. */
const stage = Effect.gen(function*() {
  const instances = yield* fediverse(2)
  const [here, there] = [instances[0]!, instances[1]!]
  const [anna, zoe] = [yield* here.person("anna"), yield* there.person("zoe")]
  yield* zoe.follow(anna)
  yield* settled(instances)
  const { id } = yield* zoe.find(anna)
  return { anna, done: settled(instances), here, id: String(id), over: settledWithRetries(instances), there, zoe }
})

const contents = (by: TestUser, path: string) =>
  Effect.map(
    by.ask("GET", path),
    (all: ReadonlyArray<{ readonly content: string }>) => all.map(({ content }) => content)
  )

it.live(
  "S-010: a pin or unpin on one server appears on the other",
  () =>
    Effect.gen(function*() {
      const { anna, done, here, id, over, there, zoe } = yield* stage
      const pinned = contents(zoe, `/api/v1/accounts/${id}/statuses?pinned=true`)
      const pin = (post: { id: string }, verb: string) => anna.ask("POST", `/api/v1/statuses/${post.id}/${verb}`)
      // A pin may overtake its post, and waits for it then.
      const one = yield* anna.post("one")
      yield* pin(one, "pin")
      const two = yield* anna.post("two")
      yield* pin(two, "pin")
      yield* over
      assert.deepStrictEqual(yield* pinned, ["<p>two</p>", "<p>one</p>"])
      const three = yield* anna.post("three")
      yield* pin(three, "pin")
      yield* over
      assert.deepStrictEqual(yield* pinned, ["<p>three</p>", "<p>two</p>", "<p>one</p>"])
      yield* pin(three, "unpin")
      yield* pin(two, "unpin")
      yield* done
      assert.deepStrictEqual(yield* pinned, ["<p>one</p>"])
      // A server that discovers the account later reads the collection.
      const ben = yield* here.person("ben")
      const early = yield* ben.post("early")
      yield* ben.ask("POST", `/api/v1/statuses/${early.id}/pin`)
      yield* done
      const known = yield* zoe.find(ben)
      const path = `/api/v1/accounts/${known.id}/statuses?pinned=true`
      assert.deepStrictEqual(yield* eventually(contents(zoe, path), ({ length }) => length > 0), ["<p>early</p>"])
      assert.isEmpty(yield* there.sql`SELECT FROM inbound_activities WHERE document LIKE '%early%'`)
    }).pipe(Effect.scoped)
)

it.live(
  "F379: a memorial is one on the other server, too",
  () =>
    Effect.gen(function*() {
      const { anna, here, id, zoe } = yield* stage
      const staff = yield* Effect.provide(staffMember("carer", ["deleteUserData"]), here.context)
      const { status } = yield* here.fetch(`/api/v1/admin/accounts/${anna.accountId}/memorialize`, {
        method: "POST",
        token: staff.token
      })
      assert.strictEqual(status, 200)
      yield* eventually(zoe.ask("GET", `/api/v1/accounts/${id}`), ({ memorial }) => memorial === true)
    }).pipe(Effect.scoped)
)

it.live(
  "S-014: a suspension also applies on the other server, and so does its end, with the earlier follows",
  () =>
    Effect.gen(function*() {
      const { anna, done, here, id, there, zoe } = yield* stage
      yield* anna.post("before")
      yield* done
      const measure = (inForce: boolean) =>
        Effect.orDie(here.sql`INSERT INTO account_intents (id, account_id, kind, details, created_at)
          VALUES (next_id(${Date.now()}), ${anna.accountId}, 'Moderate',
            ${JSON.stringify({ _tag: "Moderate", measure: "suspend", stands: inForce })}::jsonb, ${new Date()})`)
      const shown = (path: string) =>
        Effect.map(there.fetch(`/api/v1/accounts/${id}${path}`, { token: zoe.token }), ({ status }) => status)
      yield* measure(true)
      yield* eventually(shown(""), (status) => status === 410)
      assert.isEmpty(yield* zoe.home)
      yield* measure(false)
      yield* eventually(shown(""), (status) => status === 200)
      assert.isTrue((yield* zoe.relationship(anna)).following)
      yield* anna.post("after")
      yield* done
      assert.deepStrictEqual(
        (yield* zoe.home).map(({ content }: { content: string }) => content),
        ["<p>after</p>", "<p>before</p>"]
      )
    }).pipe(Effect.scoped)
)

it.live(
  "S-011: a forwarded report arrives there with its account and posts; others do not",
  () =>
    Effect.gen(function*() {
      const { anna, done, here, id, zoe } = yield* stage
      const post = yield* anna.post("rude")
      yield* done
      const [seen] = yield* zoe.home
      const report = (comment: string, forward: boolean) =>
        zoe.ask("POST", "/api/v1/reports", { account_id: id, status_ids: [seen.id], comment, forward })
      yield* report("for us", false)
      yield* report("for you", true)
      yield* done
      const reports = yield* here.sql`SELECT target_account_id, comment, status_ids FROM reports`
      assert.deepStrictEqual(reports, [
        { targetAccountId: anna.accountId, comment: "for you", statusIds: [BigInt(post.id)] }
      ])
      // The remote server does not learn the reporter (row 20).
      const [reporter] = yield* here.sql<
        { uri: string }
      >`SELECT a.uri FROM reports r JOIN accounts a ON a.id = r.account_id`
      assert.isFalse(reporter?.uri.includes("zoe"))
    }).pipe(Effect.scoped)
)
