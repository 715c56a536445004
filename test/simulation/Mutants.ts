import { Clock, Effect } from "effect"
import { commandMutants } from "./CommandMutants.ts"
import { commitMutants } from "./CommitMutants.ts"
import { consentMutants } from "./ConsentMutants.ts"
import { feedMutants } from "./FeedMutants.ts"
import type { Mutant } from "./Mutant.ts"
import { overlappingMutants } from "./OverlappingMutants.ts"
import { reviewMutants } from "./ReviewMutants.ts"
import { transferMutants } from "./TransferMutants.ts"

/** Does not adopt the jobs of a dead node. */
const jobNotAdopted: Mutant = {
  name: "an abandoned media job is not restarted",
  mutation: { processings: (jobs) => ({ ...jobs, due: () => Effect.succeed([]) }) },
  breaks: /^I15: the job/,
  commands: 12,
  foundAt: 21,
  seedsMax: 30
}

/** A crash in between leaves a file without a row. */
const fileFirst: Mutant = {
  name: "a file is stored a second before its row is inserted",
  mutation: {
    storedFiles: (files, storage, sql) => {
      let fileCount = 0
      return {
        ...files,
        keep: (extension, path, bytes) =>
          Effect.gen(function*() {
            const at = yield* Clock.currentTimeMillis
            const name = `mu/mutant-${at}-${fileCount++}.${extension}`
            yield* storage.writeFile(name, path)
            yield* Effect.sleep("1 second")
            yield* sql`INSERT INTO stored_files (name, bytes, created_at) VALUES (${name}, ${bytes}, ${new Date(at)})`
            return name
          })
      }
    }
  },
  breaks: /^I15: .* unused/,
  foundAt: 33,
  seedsMax: 30
}

/** A check before another transaction's commit is trusted after it, as without a lock on the pair. */
const blockRaced: Mutant = {
  name: "a follow is checked before the newest block is committed",
  mutation: {
    sql: (text) =>
      text.replace(
        /FROM blocks\) block\s+(?=WHERE block\.hiding = a\.id AND block\.hidden = me\.id)/,
        "FROM blocks WHERE id < (SELECT max(id) FROM blocks)) block "
      )
  },
  breaks: /^I11: the follow/,
  commands: 12,
  foundAt: 1,
  seedsMax: 30
}

/** A client that got 503 tries another way, or undoes its action; then the first command is executed. */
const lateStart: Mutant = {
  name: "a command begins after its client got 503",
  mutation: {},
  planted: {
    file: "actors/account/AccountEntity.ts",
    from: "now > until ?",
    times: 2,
    to: (on) => `now > until && !${on} ?`
  },
  breaks: /^I2: .* got 503/,
  foundAt: 12,
  seedsMax: 60
}

/** A commit with a lost response leaves intents that only the agenda finds. */
const wakeUpLost: Mutant = {
  name: "an actor does not reload its rows after a commit of unknown outcome",
  mutation: {},
  planted: {
    file: "actors/account/AccountEntity.ts",
    from: "return isDatabaseFailure(cause) ? fanout.wake(own) : Effect.void",
    times: 1,
    to: (on) =>
      `backlog.unread &&= !${on}\n            return !${on} && isDatabaseFailure(cause) ? fanout.wake(own) : Effect.void`
  },
  breaks: /^I16: .* waited/,
  commands: 12,
  foundAt: 13,
  seedsMax: 60
}

/** An attempt on a node that was presumed dead ends the job that another node works on. */
const attemptCounts: Mutant = {
  name: "a stale media attempt still counts",
  mutation: { sql: (text) => text.replace(/AND attempts = (\$\d+) AND state/, "AND $1::int > 0 AND state") },
  breaks: /^I15: attempt/,
  standstills: true,
  foundAt: 1,
  seedsMax: 30
}

/** Never creates a request for a filtered mention. */
const requestMissing: Mutant = {
  name: "a filtered mention has no notification request",
  mutation: { sql: (text) => text.replace(/FROM told\s+WHERE filtered AND/, "FROM told WHERE false AND") },
  breaks: /^I22: .* has no request/,
  foundAt: 2,
  seedsMax: 30
}

/** Streams filtered notifications like all others. */
const filteredStreamed: Mutant = {
  name: "a filtered notification is streamed",
  mutation: {},
  planted: {
    file: "services/feeds/NotificationWriter.ts",
    from: "written.filter(({ filtered }) => !filtered)",
    times: 1,
    to: (on) => `written.filter(({ filtered }) => ${on} || !filtered)`
  },
  breaks: /^I22: .* was streamed/,
  foundAt: 2,
  seedsMax: 30
}

/** Sends pushes of senders who are not accepted yet. */
const filteredPushed: Mutant = {
  name: "a filtered notification is pushed",
  mutation: { sql: (text) => text.replace("WHERE NOT told.filtered AND CASE p.policy", "WHERE CASE p.policy") },
  breaks: /^I24: .* is filtered/,
  foundAt: 2,
  seedsMax: 30
}

/** Announces boosts only on streams. */
const boostsNotPushed: Mutant = {
  name: "boosts are not pushed",
  mutation: { sql: (text) => text.replace("p.alerts -> told.type = 'true'", "told.type <> 'reblog'") },
  breaks: /^I24: the phone/,
  foundAt: 2,
  seedsMax: 30
}

/** A posted status stays in the schedule. */
const stillScheduled: Mutant = {
  name: "a scheduled status stays scheduled after it is posted",
  mutation: {
    sql: (text) =>
      text.replace(
        /DELETE (FROM scheduled_statuses\s+WHERE id = \S+ AND account_id = \S+ AND scheduled_at IS NOT NULL) RETURNING params/,
        "SELECT params $1"
      )
  },
  breaks: /^I16: the scheduled/,
  commands: 12,
  foundAt: 18,
  seedsMax: 60
}

/** Nodes keep using their cached filters. */
const staleFilters: Mutant = {
  name: "changed filters stay cached",
  mutation: {},
  planted: {
    file: "services/caching/Changes.ts",
    from: "return add(\"filters\", [message.accountId])",
    times: 1,
    to: (on) => `return ${on} ? undefined : add("filters", [message.accountId])`
  },
  breaks: /^I23/,
  commands: 12,
  foundAt: 3,
  seedsMax: 30
}

export const mutants: ReadonlyArray<Mutant> = [
  ...commandMutants,
  ...commitMutants,
  jobNotAdopted,
  fileFirst,
  blockRaced,
  lateStart,
  wakeUpLost,
  attemptCounts,
  requestMissing,
  filteredStreamed,
  filteredPushed,
  boostsNotPushed,
  stillScheduled,
  staleFilters,
  ...feedMutants,
  ...overlappingMutants,
  ...consentMutants,
  ...reviewMutants,
  ...transferMutants
]

/** Bugs in the source, by the names of their mutants. */
export const planted = new Map(
  mutants.flatMap(({ name, planted }) => planted === undefined ? [] : [[name, planted] as const])
)
