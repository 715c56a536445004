import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fromColumns, Intent, toColumns } from "../../../src/services/intents/Intent.ts"

/** Returns a row as Postgres does: jsonb is parsed. */
const read = (
  { details, kind, statusId }: {
    readonly kind: string
    readonly statusId: bigint | null
    readonly details: string | null
  }
) => fromColumns({ kind, statusId, details: details === null ? null : JSON.parse(details) })

it.effect.prop("an intent is read as it was written", { intent: Intent }, ({ intent }) =>
  Effect.gen(function*() {
    assert.deepStrictEqual(yield* read(toColumns(intent)), intent)
  }))

/** Rows of the first version, which had no version number, with their JSON. */
const first: ReadonlyArray<readonly [kind: string, statusId: bigint | null, details: string | null, intent: Intent]> = [
  ["publish", 7n, null, { _tag: "publish", statusId: 7n }],
  ["edit", 7n, `{"editedAt":1795358425123}`, { _tag: "edit", statusId: 7n, editedAt: 1_795_358_425_123 }],
  ["edit", 7n, null, { _tag: "edit", statusId: 7n }],
  ["delete", 7n, null, { _tag: "delete", statusId: 7n }],
  ["poll", 7n, null, { _tag: "poll", statusId: 7n }],
  ["notify", null, `{"type":"favourite","to":"116000000000000001","statusId":"7"}`, {
    _tag: "notify",
    type: "favourite",
    to: 116_000_000_000_000_001n,
    statusId: 7n
  }],
  ["notify", null, `{"type":"follow","to":"5","from":"6"}`, { _tag: "notify", type: "follow", to: 5n, from: 6n }],
  ["notify", null, `{"report":"12"}`, { _tag: "report", report: 12n }],
  ["homes", null, `{"readers":["5","6"]}`, { _tag: "homes", readers: [5n, 6n] }],
  ["kept_out", null, null, { _tag: "kept_out" }],
  ["move", null, `{"movedTo":"9"}`, { _tag: "move", movedTo: 9n }],
  ["deliver", 7n, `{"leaves":"Create","number":"0"}`, { _tag: "deliver", statusId: 7n, leaves: "Create", number: "0" }],
  ["deliver", null, `{"leaves":"Move","number":"3","target":"https://b.test/users/bob"}`, {
    _tag: "deliver",
    leaves: "Move",
    number: "3",
    target: "https://b.test/users/bob"
  }]
]

it.effect("rows of the first version are read", () =>
  Effect.gen(function*() {
    for (const [kind, statusId, details, intent] of first) {
      assert.deepStrictEqual(yield* read({ kind, statusId, details }), intent)
    }
  }))

it.effect("a row of a later version, or of an unknown kind, is not misread", () =>
  Effect.gen(function*() {
    const later = { kind: "publish", statusId: 7n, details: `{"version":2}` }
    assert.strictEqual((yield* Effect.flip(read(later)))._tag, "SchemaError")
    assert.strictEqual((yield* Effect.flip(read({ kind: "sing", statusId: 7n, details: null })))._tag, "SchemaError")
  }))
