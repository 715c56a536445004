import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  areBlockedEitherWay,
  hiddenAmong,
  hides,
  hidesNotifications,
  hidingBy,
  type HidingFacts,
  isBlockedEitherWay,
  isHidden,
  isNotificationHidden
} from "../../../src/services/visibility/HiddenAccounts.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import * as Worlds from "../../support/World.ts"

type Rule = "hidden" | "quiet" | "quietReplies" | "separate"

layer(TestDatabase.layer, { excludeTestServices: true })("hidden accounts", (it) => {
  it.effect.prop(
    "row 62, F98: hiding is the same in SQL and in code, singly and in bulk, in lists and notifications",
    { world: Worlds.World },
    ({ world }) =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* Worlds.settle(world)
        const { blocks, domainBlocks, follows, mutes } = Worlds.relationsOf(world)
        const factsOf = (one: bigint, other: bigint): HidingFacts => {
          const mute = mutes.get(`${one}>${other}`)
          return {
            blocks: blocks.has(`${one}>${other}`),
            mute: mute && { ...mute, expiresAt: mute.ended ? Worlds.now : null },
            blocksDomain: domainBlocks.has(one) && Worlds.isRemote(other),
            follows: follows.has(`${one}>${other}`)
          }
        }
        const [v, o] = [sql`v.id`, sql`o.id`]
        const rows = yield* sql<Readonly<Record<"viewer" | "other", bigint> & Record<Rule, boolean>>>`
          SELECT v.id AS viewer, o.id AS other, ${isHidden(sql, v, o, Worlds.now)} AS hidden,
            ${isNotificationHidden(sql, v, o, Worlds.now, sql`false`)} AS quiet, ${
          isBlockedEitherWay(sql, v, o)
        } AS separate,
            ${isNotificationHidden(sql, v, o, Worlds.now, sql`true`)} AS "quietReplies"
          FROM accounts v CROSS JOIN accounts o`
        const hidden = new Set<string>()
        for (const { other, viewer, ...found } of rows) {
          const [facts, back] = [factsOf(viewer, other), factsOf(other, viewer)]
          const expected = {
            hidden: hides(facts, Worlds.now),
            quiet: hidesNotifications(facts, back, Worlds.now, false),
            quietReplies: hidesNotifications(facts, back, Worlds.now, true),
            separate: areBlockedEitherWay(facts, back)
          }
          assert.deepStrictEqual({ ...found }, expected, `${viewer}>${other}`)
          if (expected.hidden) hidden.add(`${viewer}>${other}`)
        }
        const now = "$2::timestamptz"
        const ids = Array.from({ length: Worlds.accounts }, (_, index) => BigInt(index + 1))
        for (const id of ids) {
          const [row] = yield* sql.unsafe<Record<"hidden" | "here" | "hiding", ReadonlyArray<bigint>>>(
            `SELECT ${hiddenAmong("$1::bigint", "$3::bigint[]", now, true)} AS hidden,
              ${hiddenAmong("$1::bigint", "$3::bigint[]", now, false)} AS here,
              ${Object.values(hidingBy("$3::bigint[]", "ARRAY[$1::bigint]", now)).join(" || ")} AS hiding`,
            [id, Worlds.now, ids]
          )
          const those = (found: ReadonlyArray<bigint> = []) => [...new Set(found)].sort()
          assert.deepStrictEqual(those(row?.hidden), ids.filter((other) => hidden.has(`${id}>${other}`)))
          assert.deepStrictEqual(
            those(row?.here),
            ids.filter((other) => hides({ ...factsOf(id, other), blocksDomain: false }, Worlds.now))
          )
          assert.deepStrictEqual(those(row?.hiding), ids.filter((viewer) => hidden.has(`${viewer}>${id}`)))
        }
      }),
    { arbitrary: { runs: 40 } }
  )
})
