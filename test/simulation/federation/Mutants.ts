import type { Mutation } from "./Universe.ts"

/** A bug put into the program on purpose, and the number of seeds, from 1 on, within which the simulation must find it. */
export interface Mutant {
  readonly name: string
  readonly mutation: Mutation
  readonly seedsMax: number
}

/** Statements without a part of them; one that is not there any more makes the mutant harmless, and its test fail. */
const without = (part: RegExp, instead = ""): Mutation => ({ sql: (text) => text.replace(part, instead) })

export const mutants: ReadonlyArray<Mutant> = [
  {
    name: "an activity that came already is done again (I7)",
    mutation: without(
      /ON CONFLICT \(account_id, uri\) DO NOTHING\)/,
      "ON CONFLICT (account_id, uri) DO UPDATE SET outcome = NULL, document = EXCLUDED.document)"
    ),
    seedsMax: 60
  },
  {
    name: "deliveries about one thing overtake each other (I6)",
    mutation: without(
      /AND NOT EXISTS \(SELECT FROM deliveries e\s+WHERE e.inbox_id = d.inbox_id AND e.about = d.about AND e.activity_id < d.activity_id\)/
    ),
    seedsMax: 60
  },
  {
    name: "it is not known which posts and boosts were deleted (I10)",
    mutation: without(/FROM tombstones WHERE/, "FROM tombstones WHERE false AND"),
    seedsMax: 60
  },
  {
    name: "a delivery of which nothing was heard counts as made (I5)",
    mutation: without(
      /UPDATE deliveries d SET due_at = k.due_at, error = k.error FROM/,
      "DELETE FROM deliveries d USING"
    ),
    seedsMax: 60
  },
  {
    name: "what is undone before it comes is not remembered (I7)",
    mutation: without(/(FROM tombstones WHERE)( uri = \S+ AND account_id = \S+ AND deleted_at >)/, "$1 false AND$2"),
    seedsMax: 60
  },
  {
    name: "what a process that died had taken to deliver is nobody's (I5)",
    mutation: without(/d\.due_at <= \$(\d+)/, "d.due_at <= $$$1 AND d.tries = 0"),
    seedsMax: 60
  },
  {
    name: "what is for followers leaves for everybody whom its author knows (I11)",
    mutation: without(
      /WHERE target_account_id = (\S+)::bigint AND remote AND id > /,
      "WHERE (target_account_id = $1::bigint OR true) AND remote AND id > "
    ),
    seedsMax: 60
  }
]
