import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { accountIdRows, rowsOf, Timestamptz } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { exceeds } from "../html/Text.ts"
import * as Limits from "../instance/ContentLimits.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import type { NewPoll } from "./Post.ts"

const choiceRows = rowsOf(Schema.Struct({ choice: Schema.Int }))

/**
 * Polls, always in the transaction of a command: the author's for the poll, the voter's for votes. A vote locks the
 * poll's row, so that counts and votes agree (S-076 to S-078).
 */
export class Polls extends Context.Service<Polls, {
  /** Fails for an invalid poll (operations.md section 5). */
  readonly check: (poll: NewPoll) => Effect.Effect<void, Unprocessable>
  /** Adds a checked poll to a new status; returns its end, in milliseconds since 1970. */
  readonly create: (statusId: bigint, poll: NewPoll, millis: number) => Effect.Effect<number, SqlError>
  /**
   * Writes an edited poll; null removes it. Different options, or another `multiple`, void all votes (S-077). The
   * poll's duration starts at the edit; returns its end, in milliseconds since 1970.
   */
  readonly revise: (
    statusId: bigint,
    poll: NewPoll | null,
    millis: number
  ) => Effect.Effect<number | undefined, SqlError>
  /** Returns true if the poll's options or `multiple` would change, or if it would be added or removed. */
  readonly differs: (statusId: bigint, poll: NewPoll | null) => Effect.Effect<boolean, SqlError>
  /** Votes irrevocably; `author` owns the poll. The counts of remote polls come from their servers. */
  readonly vote: (
    statusId: bigint,
    author: bigint,
    voter: AccountId,
    choices: ReadonlyArray<number>
  ) => Effect.Effect<void, RecordNotFound | Unprocessable | SqlError>
  /**
   * Adds one choice of a remote voter to a local poll; several choices arrive one by one, each once (row 19). `choice`
   * is the option's index.
   */
  readonly cast: (
    statusId: bigint,
    author: bigint,
    voter: AccountId,
    choice: number
  ) => Effect.Effect<void, RecordNotFound | Unprocessable | SqlError>
  /** Returns the options of a local poll; undefined without one. */
  readonly options: (statusId: bigint) => Effect.Effect<ReadonlyArray<string> | undefined, SqlError>
  /** Returns voters with ids above `cursor`. */
  readonly voters: (
    statusId: bigint,
    cursor: bigint,
    rowsMax: number
  ) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
  /** Returns a poll's end, in milliseconds since 1970; undefined without a poll or an end, or for a deleted status. */
  readonly endOf: (statusId: bigint) => Effect.Effect<number | undefined, SqlError>
}>()("murmuration/services/statuses/Polls") {
  static readonly layer = Layer.effect(
    Polls,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make

      const find = Effect.fnUntraced(function*(statusId: bigint) {
        const [row] = yield* pollRows(sql`SELECT p.options, p.multiple, p.expires_at, s.local
          FROM polls p JOIN statuses s ON s.id = p.status_id WHERE p.status_id = ${statusId} FOR UPDATE OF p`)
        return row
      })

      /**
       * Returns the poll, locked, if `voter` may vote in it; `before` are their votes. Fails if the poll has ended, or
       * is the voter's own.
       */
      const open = Effect.fnUntraced(function*(statusId: bigint, author: bigint, voter: AccountId) {
        const poll = yield* find(statusId)
        if (poll === undefined) return yield* new RecordNotFound()
        const now = yield* Clock.currentTimeMillis
        if (poll.expiresAt !== null && poll.expiresAt.getTime() <= now) {
          return yield* validationFailed("The poll has already ended")
        }
        if (author === voter) return yield* validationFailed("You cannot vote in your own polls")
        const before = yield* choiceRows(sql`
          SELECT choice FROM poll_votes WHERE status_id = ${statusId} AND account_id = ${voter}`)
        return { ...poll, before: before.map(({ choice }) => choice) }
      })

      const enter = Effect.fnUntraced(function*(
        statusId: bigint,
        voter: AccountId,
        chosen: ReadonlyArray<number>,
        { before, local }: { readonly before: ReadonlyArray<number>; readonly local: boolean }
      ) {
        yield* tracked("status", [statusId])(sql`INSERT INTO poll_votes (status_id, account_id, choice, place)
          SELECT ${statusId}, ${voter}, c, ${before.length}::int + n - 1
          FROM unnest(${chosen}::int[]) WITH ORDINALITY chosen (c, n)`)
        if (!local) return
        yield* tracked("status", [statusId])(
          sql`UPDATE polls SET voters_count = voters_count + ${before.length === 0 ? 1 : 0},
            counts = ARRAY(SELECT n + (at - 1 = ANY (${chosen}::int[]))::int FROM unnest(counts) WITH ORDINALITY o (n, at) ORDER BY at)
          WHERE status_id = ${statusId}`
        )
      })

      const create = traced("Polls.create")(function*(statusId: bigint, poll: NewPoll, millis: number) {
        const endsAt = millis + poll.seconds * 1000
        yield* sql`INSERT INTO polls (status_id, options, counts, multiple, hide_totals, expires_at) VALUES (${statusId},
          ${namesOf(poll)}::text[], ${
          namesOf(poll).map(() => 0)
        }::int[], ${poll.multiple}, ${poll.hideTotals}, ${new Date(endsAt)})`
        return endsAt
      })

      const revise = traced("Polls.revise")(function*(statusId: bigint, poll: NewPoll | null, millis: number) {
        const old = yield* find(statusId)
        const isUnchanged = old !== undefined && poll !== null && !differ(old, poll)
        if (!isUnchanged) yield* tracked("status", [statusId])(sql`DELETE FROM polls WHERE status_id = ${statusId}`)
        if (poll === null) return undefined
        if (!isUnchanged) return yield* create(statusId, poll, millis)
        const endsAt = millis + poll.seconds * 1000
        yield* tracked("status", [statusId])(
          sql`UPDATE polls SET hide_totals = ${poll.hideTotals}, expires_at = ${new Date(endsAt)}
          WHERE status_id = ${statusId}`
        )
        return endsAt
      })

      const vote = traced("Polls.vote")(
        function*(statusId: bigint, author: bigint, voter: AccountId, choices: ReadonlyArray<number>) {
          const poll = yield* open(statusId, author, voter)
          const chosen = [...new Set(choices)]
          if (chosen.length === 0 || chosen.some((choice) => poll.options[choice] === undefined)) {
            return yield* validationFailed("The chosen vote option does not exist")
          }
          if (!isOpenTo(poll, chosen)) {
            return yield* validationFailed("You have already voted on this poll")
          }
          yield* enter(statusId, voter, chosen, poll)
        }
      )

      const cast = traced("Polls.cast")(
        function*(statusId: bigint, author: bigint, voter: AccountId, choice: number) {
          const poll = yield* open(statusId, author, voter)
          if (!poll.local || poll.options[choice] === undefined) {
            return yield* validationFailed("The chosen vote option does not exist")
          }
          if (!isOpenTo(poll, [choice])) {
            return yield* validationFailed("You have already voted on this poll")
          }
          yield* enter(statusId, voter, [choice], poll)
        }
      )

      return Polls.of({
        check,
        create,
        revise,
        vote,
        cast,
        options: traced("Polls.options")(function*(statusId) {
          const [row] = yield* optionsRows(sql`SELECT p.options FROM polls p
            JOIN statuses s ON s.id = p.status_id WHERE p.status_id = ${statusId} AND s.local`)
          return row?.options
        }),
        differs: traced("Polls.differs")((statusId, poll) => Effect.map(find(statusId), (old) => differ(old, poll))),
        voters: traced("Polls.voters")(function*(statusId, cursor, rowsMax) {
          const rows = yield* accountIdRows(sql`SELECT DISTINCT account_id FROM poll_votes
            WHERE status_id = ${statusId} AND account_id > ${cursor} ORDER BY account_id LIMIT ${rowsMax}`)
          return rows.map(({ accountId }) => accountId)
        }),
        endOf: traced("Polls.endOf")(function*(statusId) {
          const [row] = yield* endRows(sql`SELECT expires_at FROM polls p
            JOIN statuses s ON s.id = p.status_id WHERE p.status_id = ${statusId} AND s.deleted_at IS NULL`)
          return row?.expiresAt?.getTime()
        })
      })
    })
  )
}

const Row = Schema.Struct({
  options: Schema.Array(Schema.String),
  multiple: Schema.Boolean,
  expiresAt: Schema.NullOr(Timestamptz),
  local: Schema.Boolean
})
type Row = typeof Row.Type
const pollRows = rowsOf(Row)
const optionsRows = rowsOf(Row.mapFields(Struct.pick(["options"])))
const endRows = rowsOf(Row.mapFields(Struct.pick(["expiresAt"])))

/** Returns true if the voter may add these choices: several only with `multiple`, each once. */
const isOpenTo = (
  { before, multiple }: { readonly before: ReadonlyArray<number>; readonly multiple: boolean },
  chosen: ReadonlyArray<number>
) => multiple ? !chosen.some((choice) => before.includes(choice)) : before.length === 0 && chosen.length === 1

const namesOf = ({ options }: NewPoll) => options.map((option) => option.trim()).filter((option) => option !== "")

const differ = (old: Row | undefined, poll: NewPoll | null) =>
  old === undefined || poll === null
    ? old !== undefined || poll !== null
    : old.multiple !== poll.multiple || JSON.stringify(old.options) !== JSON.stringify(namesOf(poll))

const check = Effect.fnUntraced(function*(poll: NewPoll) {
  const names = namesOf(poll)
  if (names.length < 2) return yield* validationFailed("Poll choices must have more than one item")
  if (names.length > Limits.pollOptionsMax) {
    return yield* validationFailed(`Poll choices can't contain more than ${Limits.pollOptionsMax} items`)
  }
  if (names.some((name) => exceeds(name, Limits.pollOptionCharactersMax))) {
    return yield* validationFailed(
      `Poll choices cannot be longer than ${Limits.pollOptionCharactersMax} characters each`
    )
  }
  if (new Set(names).size !== names.length) return yield* validationFailed("Poll choices contain duplicate items")
  if (poll.seconds > Limits.pollSecondsMax) return yield* validationFailed("Poll expires at is too far into the future")
  if (poll.seconds < Limits.pollSecondsMin) return yield* validationFailed("Poll expires at is too soon")
})
