import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../../src/actors/account/core/AccountActors.ts"
import { StatusId } from "../../../../src/services/database/Ids.ts"
import { layerActors, settled } from "../../../support/Actors.ts"
import { person } from "../../../support/People.ts"
import { post } from "../../../support/Posts.ts"
import { installBarriers, interleave } from "../Rendezvous.ts"

layer(layerActors, { excludeTestServices: true })(
  "a concurrent quote and block",
  (it) => {
    it.effect("F72: a block that races a quote leaves no quote, whichever comes first", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { tell } = yield* AccountActors
        yield* installBarriers
        for (const first of ["quote", "block"] as const) {
          const [quoted, quoting] = [yield* person(`${first}ed`), yield* person(`${first}ing`)]
          const { id } = yield* tell(quoted, { _tag: "Publish", post: post("Quote me") })
          const quotedStatusId = StatusId.make(BigInt(id))
          const quote = tell(quoting, { _tag: "Publish", post: { ...post("Look"), quotedStatusId } })
          const block = tell(quoted, { _tag: "Block", target: quoting })
          yield* first === "quote" ? interleave(quote, block) : interleave(block, quote)
          yield* settled
          const left = yield* sql`SELECT q.state FROM quotes q JOIN statuses s ON s.id = q.status_id
          WHERE q.account_id = ${quoting} AND q.state IN ('accepted', 'pending') AND s.deleted_at IS NULL`
          assert.lengthOf(left, 0, `${first} first`)
        }
      }))
  }
)
