import { Schema } from "effect"
import { AccountId } from "../database/Ids.ts"
import { Timestamptz } from "../database/Rows.ts"

/** Kinds of imports from a file of lines, by what the lines name. */
export const listKinds = [
  "follows",
  "lists",
  "blocks",
  "mutes",
  "domain_blocks",
  "bookmarks",
  "favourites",
  "filters"
] as const
export const ListKind = Schema.Literals(listKinds)
export type ListKind = typeof ListKind.Type
/** Returns true for kinds whose lines name posts. */
export const namesPosts = (kind: ListKind): boolean => kind === "bookmarks" || kind === "favourites"

/**
 * Kinds of transfers; each has a handler. The last four write an archive, import one, import an account from its server,
 * and undo an import of posts.
 */
export const transferKinds = [...listKinds, "archive_out", "archive_in", "live_in", "archive_undo"] as const
export const TransferKind = Schema.Literals(transferKinds)
export type TransferKind = typeof TransferKind.Type

/**
 * States of a transfer. `unconfirmed`: its plan can be looked at; `scheduled`: waits for its first step;
 * `finished`, `failed` and `cancelled` are final.
 */
export const TransferState = Schema.Literals([
  "unconfirmed",
  "scheduled",
  "in_progress",
  "finished",
  "failed",
  "cancelled"
])
export type TransferState = typeof TransferState.Type

/** Returns true for a state in which steps run, or wait to run. */
export const isRunning = (state: TransferState): boolean => state === "scheduled" || state === "in_progress"

/**
 * Maximum transfers of an account that are not final, and final ones of a kind that are kept when the next one begins.
 * Imports of lists and weekly archives thus never delete an import of posts, which can be undone.
 */
export const openTransfersMax = 5
export const keptTransfersMax = 10
/** Returns true for kinds that import posts, which can be undone. */
export const bringsPosts = (kind: TransferKind): boolean => kind === "archive_in" || kind === "live_in"

/** Maximum transfers of a kind that are not final. An archive to import has gigabytes, so the next one must wait. */
export const openMaxOf = (kind: TransferKind): number => bringsPosts(kind) ? 1 : openTransfersMax
const dayMillis = 24 * 3_600_000
/** Time for confirming a transfer, and retention of a final one, in milliseconds. */
export const unconfirmedMillisMax = dayMillis
export const keptMillis = 14 * dayMillis
/** Retention of a finished transfer: an archive can be downloaded, and an import of posts undone, until then. */
export const keptMillisOf = (kind: TransferKind): number =>
  kind === "archive_out" ? 7 * dayMillis : bringsPosts(kind) ? 365 * dayMillis : keptMillis
/** Maximum characters of a source's name. */
export const sourceCharactersMax = 200

/** Counts of a transfer, in entries of its source. An entry that needed no change is processed and not added. */
export const TransferCounts = Schema.Struct({
  total: Schema.Int,
  processed: Schema.Int,
  added: Schema.Int,
  /** Existing relations that an overwriting import removed. */
  removed: Schema.Int,
  failed: Schema.Int
})
export type TransferCounts = typeof TransferCounts.Type

/** Row of `transfers`. */
export const Transfer = Schema.Struct({
  id: Schema.BigInt,
  accountId: AccountId,
  kind: TransferKind,
  state: TransferState,
  source: Schema.String,
  /** JSON of the kind's options and cursor; the kind's handler decodes them. */
  options: Schema.Unknown,
  cursor: Schema.Unknown,
  ...TransferCounts.fields,
  problem: Schema.NullOr(Schema.String),
  dueAt: Timestamptz,
  createdAt: Timestamptz,
  startedAt: Schema.NullOr(Timestamptz),
  finishedAt: Schema.NullOr(Timestamptz),
  expiresAt: Timestamptz
})
export type Transfer = typeof Transfer.Type

/** A transfer of a file of lines. */
export type ListTransfer = Transfer & { readonly kind: ListKind }
const isListKind = Schema.is(ListKind)
export const isOfList = (transfer: Transfer): transfer is ListTransfer => isListKind(transfer.kind)
