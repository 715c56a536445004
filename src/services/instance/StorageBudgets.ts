import { Option, Schema } from "effect"

/** What staff may set how much room it should take at most. */
export const budgetKinds = ["attachments", "profiles", "emoji", "cards", "database"] as const
export type BudgetKind = typeof budgetKinds[number]

/** The largest budget: a petabyte, in bytes. */
export const storageBudgetBytesMax = 2 ** 50

const bytes = Schema.optionalKey(Schema.Int)
const StorageBudgets = Schema.Struct({
  attachments: bytes,
  profiles: bytes,
  emoji: bytes,
  cards: bytes,
  database: bytes
})
/** Bytes by kind; what is absent has no budget. Nothing is refused or removed where one is passed: staff is warned. */
export type StorageBudgets = typeof StorageBudgets.Type

const decode = Schema.decodeUnknownOption(StorageBudgets)
/** The budgets of a setting's value; none where it is not set. */
export const storageBudgetsOf = (value: unknown): StorageBudgets => Option.getOrElse(decode(value), () => ({}))
