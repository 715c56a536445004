import type { Mutant } from "./Mutant.ts"

/** Delays an effect until after the commit if a bug is switched on. */
const afterCommit = (on: string) => `(${on} ? (later) => sql.afterCommit(Effect.orDie(later)) : (now) => now)`
/** Runs an after-commit effect at once if a bug is switched on. */
const beforeCommit = (on: string) => `(${on} ? Effect.asVoid : sql.afterCommit)`

/** Another request reads the old filters before the commit, and caches them. */
const filtersPublishedEarly: Mutant = {
  name: "nodes are notified of changed filters before the commit",
  mutation: {},
  planted: {
    file: "services/filters/Filters.ts",
    from: "sql.afterCommit(broadcast.publish({ _tag: \"FiltersChanged\"",
    times: 1,
    to: (on) => `${beforeCommit(on)}(broadcast.publish({ _tag: "FiltersChanged"`
  },
  breaks: /^I28/,
  commands: 4,
  foundAt: 3,
  seedsMax: 10
}

/** A closed stream is reopened before the commit. */
const suspensionPublishedEarly: Mutant = {
  name: "nodes are notified of a suspension before the commit",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Moderation.ts",
    from: "yield* sql.afterCommit(broadcast.publish({ _tag: \"Revoked\"",
    times: 1,
    to: (on) => `yield* ${beforeCommit(on)}(broadcast.publish({ _tag: "Revoked"`
  },
  breaks: /^I28/,
  consents: true,
  foundAt: 3,
  seedsMax: 10
}

/** A crash in between leaves a scheduled status that is never posted. */
const timerLater: Mutant = {
  name: "the timer of a scheduled status is set after the commit",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Scheduling.ts",
    from: "yield* agenda.enqueue(\"scheduled_status\", id, accountId, scheduledAt)",
    times: 1,
    to: (on) => `yield* ${afterCommit(on)}(agenda.enqueue("scheduled_status", id, accountId, scheduledAt))`
  },
  breaks: /^I16: the scheduled/,
  foundAt: 23,
  seedsMax: 30
}

/** A rescheduled status keeps its old time. */
const timerKept: Mutant = {
  name: "a rescheduled status is posted at its old time",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Scheduling.ts",
    from: "yield* agenda.enqueue(\"scheduled_status\", scheduledId, accountId, scheduledAt)",
    times: 1,
    to: (on) => `if (!${on}) yield* agenda.enqueue("scheduled_status", scheduledId, accountId, scheduledAt)`
  },
  breaks: /^I1, I2, I10: .* before its time/,
  foundAt: 16,
  seedsMax: 30
}

/** A crash in between leaves homes without the post, and no intent to repair them. */
const completedFirst: Mutant = {
  name: "an intent is completed before its feeds are written",
  mutation: {},
  planted: {
    file: "actors/account/fanout/Publish.ts",
    from: "const { accountIds, lists } = yield* push({ ...whole, since, reread }, whole)\n    const completing",
    times: 1,
    to: (on) =>
      `const isFirst = ${on} && slice.mentioned.length === 0
    if (isFirst) yield* fanouts.completeAlone({ id, owner: (yield* current(own)).owner })
    const { accountIds, lists } = yield* push({ ...whole, since, reread }, whole)
    if (isFirst) return true
    const completing`
  },
  breaks: /^I3: .* lacks/,
  foundAt: 4,
  seedsMax: 30
}

/** A crash or a lost response in between leaves a counter that includes a removed favourite. */
const uncountedLater: Mutant = {
  name: "a removed favourite is uncounted after the commit",
  mutation: {},
  planted: {
    file: "services/statuses/Favourites.ts",
    from: "yield* Counters.count({ sql, tracked }, [], [{ statusId, favourites: -1 }])",
    times: 1,
    to: (on) => `yield* ${afterCommit(on)}(Counters.count({ sql, tracked }, [], [{ statusId, favourites: -1 }]))`
  },
  breaks: /^I12/,
  foundAt: 22,
  seedsMax: 30
}

/** A crash in between leaves homes with posts of unfollowed accounts. */
const homesNotInvalidated: Mutant = {
  name: "homes are invalidated only after the commit",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Relations.ts",
    from: "if (readers.length > 0) yield* intend(own, { _tag: \"homes\"",
    times: 1,
    to: (on) => `if (!${on} && readers.length > 0) yield* intend(own, { _tag: "homes"`
  },
  breaks: /^I3: /,
  commands: 37,
  foundAt: 167,
  seedsMax: 170
}

/** Another node sends a push that this one is still sending. */
const claimOutlived: Mutant = {
  name: "a push takes longer than its claim",
  mutation: {},
  planted: {
    file: "services/intents/Pushes.ts",
    from: "new Date(now + claimMillis)",
    times: 1,
    to: (on) => `new Date(now + (${on} ? 4_000 : claimMillis))`
  },
  breaks: /^I24: .* at the same time/,
  consents: true,
  foundAt: 11,
  seedsMax: 30
}

/** Bugs between a commit and its effects, and of claims. */
export const commitMutants: ReadonlyArray<Mutant> = [
  filtersPublishedEarly,
  suspensionPublishedEarly,
  timerLater,
  timerKept,
  completedFirst,
  uncountedLater,
  homesNotInvalidated,
  claimOutlived
]
