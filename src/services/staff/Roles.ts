import type { Option } from "effect"
import { Array as Arr, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { RoleId } from "./Permissions.ts"

/** A row of `roles`. */
export const Role = Schema.Struct({
  id: RoleId,
  name: Schema.String,
  color: Schema.String,
  /** A user may act on users whose role has a lower position. */
  position: Schema.Int,
  permissions: Schema.BigInt,
  highlighted: Schema.Boolean,
  collectionLimit: Schema.Int,
  require2fa: Schema.Boolean
})
export type Role = typeof Role.Type
const roleRows = rowsOf(Role)
/** Spelled out, as the naming rules do not map `require2fa` to `require_2fa`. */
const names = "id, name, color, position, permissions, highlighted, collection_limit, require_2fa"

/** Roles of users (auth.md section 6). */
export class Roles extends Context.Service<Roles, {
  /** Roles, lowest first. */
  readonly list: Effect.Effect<ReadonlyArray<Role>>
  readonly get: (id: bigint) => Effect.Effect<Option.Option<Role>>
  /** Finds a role by name, ignoring case. */
  readonly find: (name: string) => Effect.Effect<Option.Option<Role>>
}>()("murmuration/services/staff/Roles") {
  static readonly layer = Layer.effect(
    Roles,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(names)
      return Roles.of({
        list: roleRows(sql`SELECT ${columns} FROM roles ORDER BY position, id`).pipe(
          Effect.orDie,
          Effect.withSpan("Roles.list")
        ),
        get: traced("Roles.get")(
          (id) => Effect.map(roleRows(sql`SELECT ${columns} FROM roles WHERE id = ${id}`), Arr.head),
          Effect.orDie
        ),
        find: traced("Roles.find")(
          (name) =>
            Effect.map(
              roleRows(sql`SELECT ${columns} FROM roles
                WHERE lower(name) = lower(${name}) ORDER BY position DESC LIMIT 1`),
              Arr.head
            ),
          Effect.orDie
        )
      })
    })
  )
}
