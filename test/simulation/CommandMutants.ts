import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CommandResponse, Recording } from "../../src/services/intents/Commands.ts"
import type { Mutant } from "./Mutant.ts"

/** Looks up the command's id before the transaction and records it after. */
const keyOutside: Mutant = {
  name: "the command's id is looked up and recorded outside of the transaction",
  mutation: {
    commands: (commands, sql) => ({
      ...commands,
      runAsStatement: inTransaction,
      runOnce: (owner, id, family, work) =>
        Effect.gen(function*() {
          const [found] = yield* sql<{ response: CommandResponse }>`
            SELECT answer AS response FROM commands WHERE account_id = ${owner.accountId} AND id = ${id}`
          if (found !== undefined) return { response: found.response, repeated: true }
          const response = yield* commands.owned(owner, work)
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
            VALUES (${owner.accountId}, ${id}, ${JSON.stringify(response)}::jsonb, ${
            family ?? null
          }, ${owner.epoch}, ${now})`
          return { response, repeated: false }
        })
    })
  },
  breaks: /^I2: .* executed/,
  foundAt: 1,
  seedsMax: 30
}

/** Replaces the recording at the start of single-statement commands. */
const recordingWith = (change: (sql: SqlClient.SqlClient) => Partial<Recording>): Mutant["mutation"] => ({
  commands: (commands, sql) => ({
    ...commands,
    runAsStatement: (owner, id, outcome, statement) =>
      commands.runAsStatement(owner, id, outcome, (recording) => statement({ ...recording, ...change(sql) }))
  })
})

/** Repeats a single statement when its command is repeated. */
const statementUnrecorded: Mutant = {
  name: "a single-statement command is not deduplicated",
  mutation: recordingWith((sql) => ({ recorded: () => sql`SELECT 1` })),
  breaks: /^I2: .* executed/,
  foundAt: 1,
  seedsMax: 30
}

/** Lets a node that lost an account keep writing for it by single statements. */
const statementUnowned: Mutant = {
  name: "single-statement commands do not check the owner's epoch",
  mutation: recordingWith((sql) => ({ ownerRow: sql`SELECT` })),
  breaks: /^I13/,
  overlapping: true,
  foundAt: 6,
  seedsMax: 30
}

/** Runs no command as a single statement. */
const inTransaction = () => Effect.die("in a transaction")

/** Lets a node that lost an account keep writing for it. */
const epochUnchecked: Mutant = {
  name: "the owner's epoch is not checked",
  mutation: {
    commands: (commands, sql) => ({
      ...commands,
      runAsStatement: inTransaction,
      owned: (_owner, work) => sql.withTransaction(work),
      runOnce: (owner, id, family, work) =>
        sql.withTransaction(Effect.gen(function*() {
          const [found] = yield* sql<{ response: CommandResponse }>`
            SELECT answer AS response FROM commands WHERE account_id = ${owner.accountId} AND id = ${id}`
          if (found !== undefined) return { response: found.response, repeated: true }
          const response = yield* work
          const now = new Date(yield* Clock.currentTimeMillis)
          yield* sql`INSERT INTO commands (account_id, id, answer, family, epoch, created_at)
            VALUES (${owner.accountId}, ${id}, ${JSON.stringify(response)}::jsonb, ${
            family ?? null
          }, ${owner.epoch}, ${now})`
          return { response, repeated: false }
        }))
    })
  },
  breaks: /^I13/,
  foundAt: 32,
  seedsMax: 60
}

/** Bugs that run commands twice, or on a node that is not the owner. */
export const commandMutants: ReadonlyArray<Mutant> = [keyOutside, statementUnrecorded, epochUnchecked, statementUnowned]
