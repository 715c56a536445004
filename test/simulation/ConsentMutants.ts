import type { Mutant } from "./Mutant.ts"

const consents = { consents: true, seedsMax: 30 } as const

/** Ignores the quote policy of the quoted author. */
const quotePolicyIgnored: Mutant = {
  ...consents,
  name: "every viewer of a post may quote it",
  mutation: {},
  planted: {
    file: "services/statuses/Quotes.ts",
    from: "row === undefined\n          ? \"denied\"",
    times: 1,
    to: (on) => `${on} ? "automatic" : row === undefined\n          ? "denied"`
  },
  breaks: /^I26/,
  commands: 6,
  foundAt: 12
}

/** Shows a pending reply like other posts. */
const pendingShown: Mutant = {
  ...consents,
  name: "a pending reply is public",
  mutation: {},
  planted: {
    file: "services/statuses/HeldStatuses.ts",
    from: "update(sql, { visibility: \"direct\" })",
    times: 1,
    to: (on) => `update(sql, ${on} ? { visibility: "public" } : { visibility: "direct" })`
  },
  breaks: /^I25/,
  commands: 6,
  foundAt: 2
}

/** Never announces accepted replies. */
const acceptedUnpublished: Mutant = {
  ...consents,
  name: "an approved reply is not published",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Controlling.ts",
    from: "yield* fanouts.enqueue(author, { _tag: \"publish\", statusId })",
    times: 1,
    to: (on) => `if (!${on}) yield* fanouts.enqueue(author, { _tag: "publish", statusId })`
  },
  breaks: /^I(?:3|9):/,
  foundAt: 4
}

/** Notifies only the author of a poll's end. */
const votersNotNotified: Mutant = {
  ...consents,
  name: "voters are not notified of a poll's end",
  mutation: {},
  planted: {
    file: "actors/account/fanout/PollEnd.ts",
    from: "[accountId, ...voters]",
    times: 1,
    to: (on) => `(${on} ? [accountId] : [accountId, ...voters])`
  },
  breaks: /^I27/,
  foundAt: 2
}

/** Two nodes send the same push. */
const pushUnclaimed: Mutant = {
  ...consents,
  name: "a push is sent by two nodes",
  mutation: {
    sql: (text) =>
      text.replace(
        /UPDATE pushes SET tries = pushes\.tries \+ 1, due_at = (\$\d+)/,
        (_, at: string) =>
          `UPDATE pushes SET tries = pushes.tries + 1, due_at = CASE WHEN ${at}::timestamptz IS NULL THEN NULL ELSE pushes.due_at END`
      )
  },
  breaks: /^I24: .* twice/,
  foundAt: 17
}

/** Later pushes overtake one that is being retried. */
const pushUnordered: Mutant = {
  ...consents,
  name: "pushes overtake a push that is being retried",
  mutation: {
    sql: (text) =>
      text.replace(/AND NOT EXISTS \(SELECT FROM pushes before[^)]*\)/, "").replace(
        "WHERE w.subscription_id = again.subscription_id AND w.notification_id >",
        "WHERE false AND w.notification_id >"
      ).replace("greatest(p.rests_until, ", "greatest(NULL, ")
  },
  breaks: /^I24: .* after/,
  foundAt: 3
}

/** A node keeps its cached renderings. */
const suspensionUnpublished: Mutant = {
  ...consents,
  name: "streams are not notified of a suspension",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Moderation.ts",
    from: "if (keptOut && inForce) {",
    times: 1,
    to: (on) => `if (keptOut && inForce && !${on}) {`
  },
  breaks: /^I18/,
  foundAt: 3
}

/** Reads ignore whether the author is suspended. */
const suspendedShown: Mutant = {
  ...consents,
  name: "posts of suspended accounts are shown",
  mutation: {},
  planted: {
    file: "services/statuses/ViewerStateQuery.ts",
    from: "authorSuspended: loaded.suspended.has(status.accountId)",
    times: 1,
    to: (on) => `authorSuspended: !${on} && loaded.suspended.has(status.accountId)`
  },
  breaks: /^I18/,
  foundAt: 17
}

/** Keeps the notification of a quote after its consent was withdrawn. */
const quoteNoticeKept: Mutant = {
  ...consents,
  name: "a quote's notification outlives its consent",
  mutation: {},
  planted: {
    file: "actors/account/verbs/Quoting.ts",
    from: "yield* notificationWriter.retractOne(\"quote\", quote.accountId, quotingId)",
    times: 1,
    to: (on) => `if (!${on}) yield* notificationWriter.retractOne("quote", quote.accountId, quotingId)`
  },
  breaks: /^I26/,
  foundAt: 15
}

export const consentMutants: ReadonlyArray<Mutant> = [
  quotePolicyIgnored,
  pendingShown,
  acceptedUnpublished,
  votersNotNotified,
  pushUnclaimed,
  pushUnordered,
  suspensionUnpublished,
  suspendedShown,
  quoteNoticeKept
]
