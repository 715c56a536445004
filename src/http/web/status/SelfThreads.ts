import type { ShownStatus } from "./StatusText.ts"

interface SelfThread {
  readonly first: ShownStatus
  /** Replies of the author to the own posts, oldest first. */
  readonly rest: ReadonlyArray<ShownStatus>
}

/**
 * Joins an author's replies to the own posts of the same page, newest first, with the first post of their thread. A
 * thread is at the place of its newest post.
 */
export const selfThreadsOf = (statuses: ReadonlyArray<ShownStatus>): ReadonlyArray<SelfThread> => {
  const byId = new Map(statuses.map((status) => [status.id, status]))
  const roots = new Map<string, string>()
  // Parents are older than their replies, so the roots of parents are known first.
  for (const status of statuses.toReversed()) {
    const parent = status.reblog === null && status.inReplyToAccountId === status.account.id
      ? byId.get(status.inReplyToId ?? "")
      : undefined
    const own = parent !== undefined && parent.reblog === null && parent.account.id === status.account.id
    roots.set(status.id, own ? roots.get(parent.id) ?? status.id : status.id)
  }
  const threads = new Map<string, Array<ShownStatus>>()
  for (const status of statuses) {
    const root = roots.get(status.id) ?? status.id
    const known = threads.get(root)
    if (known === undefined) threads.set(root, [status])
    else known.push(status)
  }
  return [...threads.values()].flatMap((thread) => {
    const [first, ...rest] = thread.toReversed()
    return first === undefined ? [] : [{ first, rest }]
  })
}
