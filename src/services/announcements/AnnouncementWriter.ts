import { Clock, Context, Effect, Layer, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { listedRowsMax, requireCapacity } from "../database/BoundedTables.ts"
import { columnsOf } from "../database/Columns.ts"
import type { AccountId } from "../database/Ids.ts"
import { rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { Broadcast } from "../events/Broadcast.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { momentMillisMax, momentMillisMin } from "../runtime/Moments.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { hasMoreCharacters } from "../text/Characters.ts"
import { Announcement, type AnnouncementChange, announcementCharactersMax, announcementsMax } from "./Announcement.ts"

const announcementRows = rowsOf(Announcement)
const columns = columnsOf(Announcement)

type By = AccountId | undefined
type Refused = RecordNotFound | SqlError | Unprocessable

/** Changes announcements for staff, in the current transaction; streams are told after the commit. */
export class AnnouncementWriter extends Context.Service<AnnouncementWriter, {
  /** All announcements, newest first. */
  readonly list: Effect.Effect<ReadonlyArray<Announcement>, SqlError>
  /**
   * Adds an announcement and returns its id. Publishes it at once, unless it is scheduled or `unpublished`. `by` is
   * undefined for the command line.
   */
  readonly add: (
    by: By,
    change: AnnouncementChange,
    unpublished: boolean
  ) => Effect.Effect<bigint, SqlError | Unprocessable>
  readonly edit: (by: By, id: bigint, change: AnnouncementChange) => Effect.Effect<void, Refused>
  readonly publish: (by: By, id: bigint) => Effect.Effect<void, RecordNotFound | SqlError>
  readonly unpublish: (by: By, id: bigint) => Effect.Effect<void, RecordNotFound | SqlError>
  readonly remove: (by: By, id: bigint) => Effect.Effect<void, RecordNotFound | SqlError>
  /** Publishes due announcements, and takes down expired ones without telling streams (S-110). */
  readonly sweep: Effect.Effect<void, SqlError>
}>()("murmuration/services/announcements/AnnouncementWriter") {
  static readonly layer = Layer.effect(AnnouncementWriter, Effect.suspend(() => make)).pipe(
    Layer.provide(AuditLog.layer)
  )
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const audit = yield* AuditLog
  const broadcast = yield* Broadcast
  const now = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

  const publishEvent = (announcementId: bigint, event: "announcement" | "announcement.delete") =>
    sql.afterCommit(broadcast.publish({ _tag: "AnnouncementEvent", announcementId, event }))
  const target = (id: bigint, text: string) => ({ type: "announcement", id, label: text }) as const
  const list = announcementRows(
    sql`SELECT ${columns.list(sql)} FROM announcements ORDER BY id DESC LIMIT ${rowsMax(sql, listedRowsMax)}`
  )
  const find = Effect.fnUntraced(function*(id: bigint) {
    const [found] = yield* announcementRows(
      sql`SELECT ${columns.list(sql)} FROM announcements WHERE id = ${id} FOR UPDATE`
    )
    return found ?? (yield* new RecordNotFound())
  })
  const publishNow = Effect.fnUntraced(function*(id: bigint) {
    yield* sql`UPDATE announcements SET published_at = ${yield* now}, scheduled_at = NULL WHERE id = ${id}`
    yield* publishEvent(id, "announcement")
  })

  return AnnouncementWriter.of({
    list: Effect.withSpan(list, "AnnouncementWriter.list"),
    add: traced("AnnouncementWriter.add")(function*(by, change, unpublished) {
      const values = yield* changed(blank, change)
      yield* requireCapacity(sql, { table: "announcements", name: "Announcements", max: announcementsMax })
      const at = yield* now
      const { allDay, endsAt, startsAt, text } = values
      const scheduledAt = unpublished ? null : values.scheduledAt
      const { id } = singleRow(
        yield* idRows(sql`INSERT INTO announcements
          (id, text, starts_at, ends_at, all_day, scheduled_at, created_at, updated_at)
        VALUES (next_id(${at.getTime()}), ${text}, ${startsAt}, ${endsAt}, ${allDay}, ${scheduledAt}, ${at}, ${at})
        RETURNING id`)
      )
      const published = !unpublished && (scheduledAt === null || scheduledAt <= at)
      if (published) yield* publishNow(id)
      const after = { ...values, scheduledAt: published ? null : scheduledAt, published }
      yield* audit.record({ by, action: "create", target: target(id, text), after })
      return id
    }),
    edit: traced("AnnouncementWriter.edit")(function*(by, id, change) {
      const before = yield* find(id)
      const after = yield* changed(before, change)
      const { allDay, endsAt, scheduledAt, startsAt, text } = after
      yield* sql`UPDATE announcements SET text = ${text}, starts_at = ${startsAt}, ends_at = ${endsAt},
        all_day = ${allDay}, scheduled_at = ${scheduledAt}, updated_at = ${yield* now} WHERE id = ${id}`
      if (before.publishedAt !== null) yield* publishEvent(id, "announcement")
      const was = Struct.pick(before, ["allDay", "endsAt", "scheduledAt", "startsAt", "text"])
      yield* audit.record({ by, action: "update", target: target(id, before.text), before: was, after })
    }),
    publish: traced("AnnouncementWriter.publish")(function*(by, id) {
      const before = yield* find(id)
      if (before.publishedAt !== null) return
      yield* publishNow(id)
      yield* audit.record({ by, action: "publish", target: target(id, before.text) })
    }),
    unpublish: traced("AnnouncementWriter.unpublish")(function*(by, id) {
      const before = yield* find(id)
      yield* sql`UPDATE announcements SET published_at = NULL, scheduled_at = NULL WHERE id = ${id}`
      if (before.publishedAt !== null) yield* publishEvent(id, "announcement.delete")
      if (before.publishedAt === null && before.scheduledAt === null) return
      yield* audit.record({ by, action: "unpublish", target: target(id, before.text) })
    }),
    remove: traced("AnnouncementWriter.remove")(function*(by, id) {
      const before = yield* find(id)
      yield* sql`DELETE FROM announcements WHERE id = ${id}`
      // The announcement's reactions are deleted with it, without an event for each (S-265).
      if (before.publishedAt !== null) yield* publishEvent(id, "announcement.delete")
      const { id: _, ...was } = before
      yield* audit.record({ by, action: "destroy", target: target(id, before.text), before: was })
    }),
    sweep: Effect.gen(function*() {
      const at = yield* now
      yield* sql`UPDATE announcements SET published_at = NULL, scheduled_at = NULL
        WHERE published_at IS NOT NULL AND ends_at < ${at}`
      const due = yield* idRows(sql`UPDATE announcements SET published_at = ${at}, scheduled_at = NULL
        WHERE published_at IS NULL AND scheduled_at <= ${at} AND (ends_at IS NULL OR ends_at >= ${at}) RETURNING id`)
      for (const { id } of due) yield* publishEvent(id, "announcement")
    }).pipe(Effect.withSpan("AnnouncementWriter.sweep"))
  })
})

type Written = Pick<Announcement, "allDay" | "endsAt" | "scheduledAt" | "startsAt" | "text">
const blank: Written = { text: "", startsAt: null, endsAt: null, allDay: false, scheduledAt: null }

const changed = Effect.fnUntraced(function*(before: Written, change: AnnouncementChange) {
  const moment = (name: "endsAt" | "scheduledAt" | "startsAt") => {
    const millis = change[name]
    if (millis === undefined) return before[name]
    return millis === null ? null : new Date(Math.min(Math.max(millis, momentMillisMin), momentMillisMax))
  }
  const text = change.text ?? before.text
  const [startsAt, endsAt] = [moment("startsAt"), moment("endsAt")]
  const problems: Array<string> = []
  if (text.trim() === "") problems.push("Text can't be blank")
  if (hasMoreCharacters(text, announcementCharactersMax)) {
    problems.push(`Text is too long (maximum is ${announcementCharactersMax} characters)`)
  }
  if (startsAt === null && endsAt !== null) problems.push("Starts at can't be blank")
  if (endsAt === null && startsAt !== null) problems.push("Ends at can't be blank")
  if (startsAt !== null && endsAt !== null && endsAt < startsAt) problems.push("Ends at must be after its beginning")
  if (problems.length > 0) return yield* validationFailed(...problems)
  return {
    text,
    startsAt,
    endsAt,
    // `allDay` only applies to a range (S-087).
    allDay: startsAt !== null && (change.allDay ?? before.allDay),
    scheduledAt: moment("scheduledAt")
  }
})
