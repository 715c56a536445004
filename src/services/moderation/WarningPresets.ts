import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { isSqlError } from "effect/sql/SqlError"
import { listedRowsMax, requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf, singleRow, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { exceeds } from "../html/Text.ts"
import { type NotAllowed, type RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { requirePermission } from "../staff/Rank.ts"
import { auditedRows } from "../staff/StaffRows.ts"
import { actionTextCharactersMax } from "./ActionTypes.ts"

/** Maximum presets of a server, and maximum characters of a title. */
/** Maximum presets of a server. */
export const warningPresetsMax = 100
const titleCharactersMax = 100

const WarningPreset = Schema.Struct({
  id: Schema.BigInt,
  title: Schema.String,
  text: Schema.String,
  createdAt: Timestamptz,
  updatedAt: Timestamptz
})
export type WarningPreset = typeof WarningPreset.Type
const presetRows = rowsOf(WarningPreset)

/** A requested preset or change; absent fields stay unchanged. */
interface PresetWish {
  readonly title?: string | undefined
  readonly text?: string | undefined
}

type Refused = NotAllowed | RecordNotFound | Unprocessable

/** Preset texts for moderation warnings. */
export class WarningPresets extends Context.Service<WarningPresets, {
  /** Presets, ordered by title. */
  readonly list: Effect.Effect<ReadonlyArray<WarningPreset>>
  readonly find: (id: bigint) => Effect.Effect<WarningPreset, RecordNotFound>
  readonly create: (by: AccountId, wish: PresetWish) => Effect.Effect<WarningPreset, Refused>
  readonly update: (by: AccountId, id: bigint, wish: PresetWish) => Effect.Effect<WarningPreset, Refused>
  readonly remove: (by: AccountId, id: bigint) => Effect.Effect<void, Refused>
}>()("murmuration/services/moderation/WarningPresets") {
  static readonly layer = Layer.effect(WarningPresets, Effect.suspend(() => make)).pipe(Layer.provide(AuditLog.layer))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const standing = requirePermission(sql)
  const target = ({ id, title, text }: WarningPreset) =>
    ({ type: "warningPreset", id, label: title === "" ? text : title }) as const
  const logged = (preset: WarningPreset) => Struct.pick(preset, ["title", "text"])
  const table = auditedRows({ sql, audit, table: "warning_presets", rows: presetRows, target, logged })

  const act = <A, E>(by: AccountId, work: Effect.Effect<A, E>) =>
    Effect.andThen(standing(by, "manageSettings"), work).pipe(transaction(sql), Effect.catchIf(isSqlError, Effect.die))

  const checked = Effect.fnUntraced(function*(wish: PresetWish, before?: WarningPreset) {
    const title = wish.title?.trim() ?? before?.title ?? ""
    const text = wish.text?.trim() ?? before?.text ?? ""
    if (text === "") return yield* validationFailed("Text can't be blank")
    if (exceeds(title, titleCharactersMax)) {
      return yield* validationFailed(`Title is too long (maximum is ${titleCharactersMax} characters)`)
    }
    if (exceeds(text, actionTextCharactersMax)) {
      return yield* validationFailed(`Text is too long (maximum is ${actionTextCharactersMax} characters)`)
    }
    return { title, text, at: new Date(yield* Clock.currentTimeMillis) }
  })

  return WarningPresets.of({
    list: Effect.orDie(
      presetRows(sql`SELECT * FROM warning_presets ORDER BY title, id LIMIT ${rowsMax(sql, listedRowsMax)}`)
    ),
    find: traced("WarningPresets.find")(table.find),
    create: traced("WarningPresets.create")((by, wish) =>
      act(
        by,
        Effect.gen(function*() {
          const { at, text, title } = yield* checked(wish)
          yield* requireCapacity(sql, { table: "warning_presets", name: "Warning presets", max: warningPresetsMax })
          const inserted = singleRow(
            yield* presetRows(sql`INSERT INTO warning_presets (id, title, text, created_at, updated_at)
            VALUES (next_id(${at.getTime()}), ${title}, ${text}, ${at}, ${at}) RETURNING *`)
          )
          return yield* table.created(by, inserted)
        })
      )
    ),
    update: traced("WarningPresets.update")((by, id, wish) =>
      act(
        by,
        table.change(
          by,
          id,
          Effect.fnUntraced(function*(before) {
            const { at, text, title } = yield* checked(wish, before)
            return singleRow(
              yield* presetRows(sql`UPDATE warning_presets SET title = ${title}, text = ${text}, updated_at = ${at}
            WHERE id = ${id} RETURNING *`)
            )
          })
        )
      )
    ),
    remove: traced("WarningPresets.remove")((by, id) => act(by, table.destroy(by, id)))
  })
})
