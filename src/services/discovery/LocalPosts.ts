import { Effect } from "effect"
import { isNamed, type LocalName } from "../instance/LocalNames.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import type { Statuses } from "../statuses/Statuses.ts"

/**
 * Returns a public local post by its URL's author and id. Fails with `RecordNotFound` if the author does not match, so
 * that a URL cannot attribute a post to another account.
 */
export const localPost = Effect.fnUntraced(function*(statuses: Statuses["Service"], name: LocalName, id: bigint) {
  const status = yield* statuses.find(undefined, id)
  const record = (yield* statuses.load([status.id])).find((found) => found.id === status.id)
  return record === undefined || !record.local || !isNamed(name, { id: record.accountId, username: record.username })
    ? yield* new RecordNotFound()
    : { status, record }
})
