import { Option, Schema } from "effect"

/** Kinds of storage that staff can set a budget for. */
export const budgetKinds = ["attachments", "profiles", "emoji", "cards", "database"] as const
export type BudgetKind = typeof budgetKinds[number]

/** Maximum budget: a petabyte, in bytes. */
export const storageBudgetBytesMax = 2 ** 50

const bytes = Schema.optionalKey(Schema.Int)
const StorageBudgets = Schema.Struct({
  attachments: bytes,
  profiles: bytes,
  emoji: bytes,
  cards: bytes,
  database: bytes
})
/** Bytes by kind; absent kinds have no budget. An exceeded budget only warns staff: nothing is refused or deleted. */
export type StorageBudgets = typeof StorageBudgets.Type

const decode = Schema.decodeUnknownOption(StorageBudgets)
/** Decodes the budgets in a setting; none if it is unset. */
export const storageBudgetsOf = (value: unknown): StorageBudgets => Option.getOrElse(decode(value), () => ({}))
