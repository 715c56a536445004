import type { BugSearch } from "../BugSearches.ts"
import type { Planted } from "../Sources.ts"
import type { Mutation } from "./Universe.ts"

/** A deliberate bug in the program. */
export interface Mutant extends BugSearch {
  readonly name: string
  readonly mutation: Mutation
  /** A bug in the program's source, used instead of the mutation. */
  readonly planted?: Planted
}

/** Removes part of a statement. If the part no longer exists, the mutant has no effect and its test fails. */
const without = (part: RegExp, instead = ""): Mutation => ({ sql: (text) => text.replace(part, instead) })

/** Starts the next recipients one slice too late. */
const sliceSkipped: Mutation = {
  sql: (text) => {
    const slice = /FROM follows\s+WHERE target_account_id = \S+ AND remote AND id > \S+ ORDER BY id LIMIT \d+/.exec(
      text
    )?.[0]
    return text.replace(
      "(SELECT max(id) FROM slice) AS last",
      `(SELECT max(id) FROM (SELECT id ${slice?.replace(/LIMIT (\d+)$/, "LIMIT 2 * $1")}) ahead) AS last`
    )
  }
}

export const mutants: ReadonlyArray<Mutant> = [
  {
    name: "deliveries about one object overtake each other (I6)",
    mutation: without(
      /AND NOT EXISTS \(SELECT FROM deliveries e\s+WHERE e.inbox_id = d.inbox_id AND e.about = d.about AND e.activity_id < d.activity_id\)/
    ),
    breaks: /^I6/,
    commands: 8,
    foundAt: 3,
    seedsMax: 24
  },
  {
    name: "a delivery without a response counts as done (I5)",
    mutation: without(
      /UPDATE deliveries d SET due_at = k.due_at, error = k.error FROM/,
      "DELETE FROM deliveries d USING"
    ),
    breaks: /^I5/,
    commands: 4,
    foundAt: 1,
    seedsMax: 24
  },
  {
    name: "deliveries claimed by a dead process are never retried (I5)",
    mutation: without(/d\.due_at <= \$(\d+)/, "d.due_at <= $$$1 AND d.tries = 0"),
    breaks: /^I(?:5|16):/,
    commands: 4,
    foundAt: 1,
    seedsMax: 24
  },
  {
    name: "an Undo of an earlier follow, favourite or boost undoes the later one (I7)",
    mutation: {},
    planted: {
      file: "actors/account/inbox/InboxUndo.ts",
      from: "      if (uri !== null) {\n        return uri !== ownId",
      times: 1,
      to: (on) => `      if (${on}) return false\n      if (uri !== null) {\n        return uri !== ownId`
    },
    breaks: /^I(?:5|7|12):/,
    foundAt: 7,
    seedsMax: 24
  },
  {
    name: "followers-only posts are delivered to all known servers (I11)",
    mutation: without(
      /WHERE target_account_id = (\S+)::bigint AND remote AND id > /,
      "WHERE (target_account_id = $1::bigint OR true) AND remote AND id > "
    ),
    breaks: /^I11/,
    foundAt: 2,
    seedsMax: 24
  },
  {
    name: "the cursor of a delivery is one slice ahead (I5)",
    mutation: sliceSkipped,
    breaks: /^I5/,
    commands: 6,
    foundAt: 2,
    seedsMax: 24
  },
  {
    name: "a delivery in several slices waits for a later change (I6)",
    mutation: without(/AND id < (\S+ AND kind = 'deliver')/, "AND id > $1"),
    breaks: /^I(?:5|6):/,
    foundAt: 45,
    seedsMax: 60
  },
  {
    name: "inbound activities are processed without an ownership check (I13)",
    mutation: {},
    planted: {
      file: "actors/account/core/Ownership.ts",
      from: "Effect.andThen(Effect.catchTag(commands.lock(held.owner), \"StaleOwner\", forget(own, held)), work)",
      times: 1,
      to: (on) =>
        `${on} ? work : Effect.andThen(Effect.catchTag(commands.lock(held.owner), "StaleOwner", forget(own, held)), work)`
    },
    breaks: /^I13/,
    commands: 12,
    foundAt: 1,
    seedsMax: 24
  },
  {
    name: "a superseded process keeps working (I13)",
    mutation: {},
    planted: {
      file: "services/intents/Commands.ts",
      from: "epoch === owner.epoch ? Effect.void",
      times: 1,
      to: (on) => `${on} || epoch === owner.epoch ? Effect.void`
    },
    breaks: /^I13/,
    foundAt: 13,
    seedsMax: 24
  },
  {
    name: "reports of a server are identified by its actor (I7)",
    mutation: {},
    planted: {
      file: "actors/account/inbox/InboxReports.ts",
      from: "      uri,\n",
      times: 1,
      to: (on) => `      uri: ${on} ? self.uri : uri,\n`
    },
    breaks: /^I7: .* has the report/,
    foundAt: 2,
    seedsMax: 24
  },
  {
    name: "a post in a request's instrument bypasses all policies (I11)",
    mutation: {},
    planted: {
      file: "services/federation/documents/CarriedPosts.ts",
      from: "carryingFields.flatMap(",
      times: 1,
      to: (on) => `carryingFields.filter((field) => !${on} || field !== "instrument").flatMap(`
    },
    breaks: /^I11: .* has a mention/,
    commands: 0,
    foundAt: 2,
    seedsMax: 24
  },
  {
    name: "quotes pass a block (I11)",
    mutation: {},
    planted: {
      file: "services/federation/policies/BlockPolicies.ts",
      from: "posts.filter((field) =>",
      times: 1,
      to: (on) => `posts.filter((field) => (!${on} || field === "inReplyTo") &&`
    },
    breaks: /^I11: .* has a quote/,
    commands: 0,
    foundAt: 2,
    seedsMax: 24
  }
]

/** Bugs in the source, by the names of their mutants. */
export const planted = new Map(
  mutants.flatMap(({ name, planted }) => planted === undefined ? [] : [[name, planted] as const])
)
