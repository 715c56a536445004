import type { Mutant } from "./Mutant.ts"

/** Another node takes an account over while its owner is at work. */
const takeoverUnlocked: Mutant = {
  name: "a takeover does not wait for a running transaction",
  mutation: {
    sql: (text) =>
      text.replaceAll(/((?:FROM|JOIN) actors\b(?:(?! FOR SHARE)[\s\S]){0,200}) FOR SHARE(?: OF a\b)?(?! OF)/g, "$1")
  },
  breaks: /^I13/,
  overlapping: true,
  foundAt: 5,
  seedsMax: 30
}

/** A crash or a lost connection in between leaves uncounted votes. */
const countedLater: Mutant = {
  name: "votes are counted outside of the transaction",
  mutation: {},
  planted: {
    file: "services/statuses/Polls.ts",
    from: "sql`UPDATE polls SET voters_count",
    times: 1,
    to: (on) =>
      `(${on} ? (...parts) => sql.afterCommit(Effect.orDie(sql(...parts))) : sql)\`UPDATE polls SET voters_count`
  },
  breaks: /^I20/,
  overlapping: true,
  foundAt: 7,
  seedsMax: 30
}

/** Adds to the value read at the start of the statement, so concurrent counts are lost. */
const readThenWritten: Mutant = {
  name: "counters are read, then written",
  mutation: {
    sql: (text) =>
      text.replace(
        "favourites_count = s.favourites_count + c.favourites",
        "favourites_count = (SELECT o.favourites_count FROM status_stats o WHERE o.status_id = s.status_id) + c.favourites"
      )
  },
  breaks: /^I12/,
  overlapping: true,
  foundAt: 5,
  seedsMax: 30
}

/** Three accounts that follow each other in a ring deadlock; a pause between two locks shows it within few seeds. */
const locksUnordered: Mutant = {
  name: "counters are locked in arbitrary order",
  mutation: {},
  planted: {
    file: "services/database/Counters.ts",
    from: "yield* ofAccounts(writer, accounts)",
    times: 1,
    to: (on) =>
      `yield* (${on} ? Effect.forEach(accounts, (one) => Effect.andThen(accountUpdate(writer.sql, one, one.at), Effect.sleep(20))) : ofAccounts(writer, accounts))`
  },
  breaks: /^I21/,
  overlapping: true,
  foundAt: 25,
  seedsMax: 60
}

/** Sessions count the same rows, and each inserts one more. */
const boundUnlocked: Mutant = {
  name: "rows of a bounded table are counted without a lock",
  mutation: {},
  planted: {
    file: "services/database/BoundedTables.ts",
    from: "yield* lockBound(sql, table)",
    times: 1,
    to: (on) => `if (!${on}) yield* lockBound(sql, table)`
  },
  breaks: /^I31/,
  overlapping: true,
  commands: 4,
  foundAt: 1,
  seedsMax: 30
}

export const overlappingMutants: ReadonlyArray<Mutant> = [
  takeoverUnlocked,
  countedLater,
  readThenWritten,
  locksUnordered,
  boundUnlocked
]
