import { Cause, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { NotificationRequests } from "../../src/services/feeds/NotificationRequests.ts"
import { Dice } from "./Seeded.ts"
import type { Shared, World } from "./World.ts"

const acceptsMax = 6
const acceptPauseMillisMax = 2_000

/** In some seeds users accept notification requests while the senders keep writing to them. */
export const acceptRepeatedly = Effect.fnUntraced(
  function*(world: World, { outsideBus, sql }: Shared, people: ReadonlyArray<AccountId>) {
    const dice = new Dice(world.seed, "hearing")
    if (dice.chance(0.5)) return
    const context = yield* Layer.build(
      Layer.fresh(NotificationRequests.layer).pipe(
        Layer.provide([Layer.succeed(SqlClient.SqlClient, sql), Layer.succeed(Broadcast, outsideBus)])
      )
    )
    const requests = Context.get(context, NotificationRequests)
    for (let n = 0; n < acceptsMax; n++) {
      yield* Effect.sleep(dice.between(200, acceptPauseMillisMax))
      yield* Effect.gen(function*() {
        for (const owner of people) {
          const pending = yield* requests.newest(owner)
          if (pending.length === 0 || dice.chance(0.5)) continue
          yield* requests.accept(owner, [dice.pick(pending).id])
          world.count("request accepted")
        }
      }).pipe(
        // If the database is down, their apps show an error, and they retry.
        Effect.catchCause((cause) => isSqlError(Cause.squash(cause)) ? Effect.void : Effect.failCause(cause))
      )
    }
  },
  Effect.scoped,
  (accepting) => Effect.ignore(accepting)
)
