import { Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../src/services/events/Broadcast.ts"
import { InstanceRules, rulesMax } from "../../src/services/instance/InstanceRules.ts"
import { Dice } from "./Seeded.ts"
import { client, type Shared, type World } from "./World.ts"

/**
 * Number of concurrent inserting sessions, free rows in the table, and time within which the sessions start, in
 * milliseconds.
 */
const sessions = 4
const free = 2
const burstMillis = 20
/** Maximum delay before the burst, in milliseconds. */
const laterMillisMax = 6_000

/** Inserts from several sessions into a table that is nearly full, as staff and the command line do with rules. */
export const fillAtOnce = Effect.fnUntraced(
  function*(world: World, { outsideBus, sql }: Shared) {
    const dice = new Dice(world.seed, "bounds")
    yield* sql`INSERT INTO rules (id, text) SELECT n, 'rule ' || n FROM generate_series(1, ${rulesMax - free}) n`
    const database = yield* Layer.build(client(world.session, world.outside, sessions))
    const context = yield* Layer.build(
      Layer.fresh(InstanceRules.layer).pipe(Layer.provide([
        Layer.succeed(SqlClient.SqlClient, Context.get(database, SqlClient.SqlClient)),
        Layer.succeed(Broadcast, outsideBus)
      ]))
    )
    const rules = Context.get(context, InstanceRules)
    yield* Effect.sleep(dice.between(0, laterMillisMax))
    const waits = Array.from({ length: sessions }, () => dice.between(0, burstMillis))
    const added = yield* Effect.forEach(
      waits,
      (wait, n) =>
        Effect.sleep(wait).pipe(
          Effect.andThen(rules.add(undefined, { text: `at once ${n}`, hint: "" })),
          Effect.exit
        ),
      { concurrency: "unbounded" }
    )
    const done = added.filter(Exit.isSuccess).length
    if (done === free) world.count("bound reached")
  },
  Effect.scoped,
  // The database may be down.
  (filling) => Effect.ignoreCause(filling)
)

/** I31: a bounded table never exceeds its bound, however many sessions insert concurrently. */
export const check = Effect.fnUntraced(function*({ sql }: Shared) {
  const rows = yield* sql`SELECT FROM rules WHERE deleted_at IS NULL`
  return rows.length > rulesMax ? [`I31: there are ${rows.length} rules, more than ${rulesMax}`] : []
})
