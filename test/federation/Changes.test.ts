import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { settled, startInstance } from "../support/Fediverse.ts"
import { keyOperations, listener } from "./Listener.ts"
import { note, sendTo } from "./SentActivity.ts"

/** Sets up Anna and Ben here, and Zoe, who follows Anna from a server that only listens. */
const stage = Effect.gen(function*() {
  const here = yield* startInstance()
  const there = yield* listener()
  const [anna, ben] = [yield* here.person("anna"), yield* here.person("ben")]
  const zoe = yield* there.actor("zoe")
  const say = sendTo(here, zoe)
  yield* say({ id: `${zoe.id}#follow`, type: "Follow", object: anna.uri })
  yield* settled([here])
  /** Waits until the other server has received an activity of this type, and all work is done. */
  const received = Effect.fnUntraced(function*(type: string) {
    while (!there.received.some(({ activity }) => activity.type === type)) yield* settled([here])
    yield* settled([here])
    return there.take(type).map(({ activity }) => activity)
  })
  there.received.length = 0
  return { anna, ben, done: settled([here]), received, here, say, there, zoe }
})

it.live(
  "S-013, S-076: a vote is sent as a note with the option's name, one per choice, to the poll's author alone",
  () =>
    Effect.gen(function*() {
      const { anna, done, here, say, there, zoe } = yield* stage
      const mention = { cc: [anna.uri], tag: [{ type: "Mention", href: anna.uri }] }
      yield* say({ id: `${zoe.id}#create`, type: "Create", object: note(zoe, "question", mention) })
      yield* done
      const { id } = yield* anna.find({ handle: `zoe@${there.domain}` })
      const [post] = yield* anna.ask("GET", `/api/v1/accounts/${id}/statuses`)
      yield* here.sql`INSERT INTO polls (status_id, options, counts, multiple, hide_totals)
      VALUES (${post.id}::bigint, ${["tea", "coffee", "milk"]}::text[], ${[0, 0, 0]}::int[], true, false)`
      yield* anna.ask("POST", `/api/v1/polls/${post.id}/votes`, { choices: [0, 2] })
      yield* done
      const votes = there.take("Create").map(({ activity }) => activity)
      assert.deepStrictEqual(votes.map(({ object: { name } }) => name), ["tea", "milk"])
      for (const { object, to } of votes) {
        assert.strictEqual(to, zoe.id)
        assert.deepInclude(object, { type: "Note", inReplyTo: `${zoe.id}/notes/question`, attributedTo: anna.uri, to })
      }
      assert.strictEqual(new Set(votes.map((vote) => vote.id)).size, 2)
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)

it.live(
  "a poll's counts are sent once per three minutes of votes, and at its end",
  () =>
    Effect.gen(function*() {
      const { anna, ben, done, received, here, there } = yield* stage
      const poll = { options: ["yes", "no"], expires_in: 3600 }
      const { id } = yield* anna.ask("POST", "/api/v1/statuses", { status: "really?", poll })
      yield* done
      assert.strictEqual((yield* received("Create"))[0].object.type, "Question")
      yield* ben.ask("POST", `/api/v1/polls/${id}/votes`, { choices: [1] })
      yield* done
      assert.isEmpty(there.received)
      const due = Effect.fnUntraced(function*(kind: string) {
        const rows = yield* here.sql`UPDATE agenda SET due_at = ${new Date(
          0
        )} WHERE kind = ${kind} AND subject_id = ${id}::bigint
        RETURNING kind`
        assert.lengthOf(rows, 1)
      })
      yield* due("poll_update")
      const [first, ...more] = yield* received("Update")
      assert.isEmpty(more)
      assert.deepStrictEqual(
        first.object.oneOf.map(({ replies }: { replies: { totalItems: number } }) => replies.totalItems),
        [
          0,
          1
        ]
      )
      assert.isUndefined(first.object.closed)
      yield* here.sql`UPDATE polls SET expires_at = ${new Date(Date.now() - 1_000)} WHERE status_id = ${id}::bigint`
      yield* due("poll_end")
      const [last] = yield* received("Update")
      assert.isString(last.object.closed)
      assert.notStrictEqual(last.id, first.id)
    }).pipe(Effect.provide(keyOperations), Effect.scoped)
)

it.live("S-014: a suspension and its end are sent to followers", () =>
  Effect.gen(function*() {
    const { anna, done, received, here, there } = yield* stage
    const measure = (inForce: boolean) =>
      here.sql`INSERT INTO account_intents (id, account_id, kind, details, created_at) VALUES (next_id(${Date.now()}),
        ${anna.accountId}, 'Moderate', ${
        JSON.stringify({ _tag: "Moderate", measure: "suspend", stands: inForce })
      }::jsonb, ${new Date()})`
    yield* anna.post("before")
    yield* done
    there.received.length = 0
    yield* measure(true)
    const [suspended] = yield* received("Update")
    assert.deepInclude(suspended.object, { id: anna.uri, suspended: true, name: "anna" })
    yield* measure(false)
    const [back] = yield* received("Update")
    assert.deepInclude(back.object, { id: anna.uri, suspended: false })
  }).pipe(Effect.provide(keyOperations), Effect.scoped), 180_000)
