import { Effect } from "effect"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import type { Performed } from "./Performed.ts"
import type { Begun } from "./TransferPlan.ts"
import type { Shared, World } from "./World.ts"

/** Transfers that accounts began, and the commands of those transfers, by command id. */
export interface TransferRecord {
  readonly begun: Array<Begun>
  readonly commands: Map<string, { readonly account: bigint; readonly command: Command }>
}
export const none = (): TransferRecord => ({ begun: [], commands: new Map() })

interface Row {
  readonly id: bigint
  readonly state: string
  readonly total: number
  readonly processed: number
  readonly added: number
  readonly removed: number
  readonly failed: number
}

interface Post {
  readonly accountId: bigint
  readonly uri: string
  readonly transferId: bigint
  readonly deleted: boolean
}

/** Posts and relations of accounts after their transfers, as if each ran alone, in order, and without faults. */
class Expected {
  /** Import that added each post, by account and original id. */
  readonly posts = new Map<bigint, Map<string, bigint>>()
  readonly domains = new Map<bigint, ReadonlySet<string>>()
  private readonly counts = new Map<bigint, Partial<Row>>()

  perform(begun: Begun, performed: ReadonlyArray<Performed>): Partial<Row> {
    const counts = this.run(begun, performed)
    this.counts.set(begun.id, counts)
    return counts
  }

  private run(begun: Begun, performed: ReadonlyArray<Performed>): Partial<Row> {
    const { id, owner } = begun
    if (begun.kind === "archive_in") {
      const posts = this.posts.get(owner) ?? new Map<string, bigint>()
      this.posts.set(owner, posts)
      const added = begun.uris.filter((uri) => !posts.has(uri))
      for (const uri of added) posts.set(uri, id)
      return { total: begun.uris.length, processed: begun.uris.length, added: added.length, failed: 0 }
    }
    if (begun.kind === "archive_undo") {
      const posts = [...this.posts.get(owner) ?? []]
      this.posts.set(owner, new Map(posts.filter(([, importId]) => importId !== begun.importId)))
      const { added = 0 } = this.counts.get(begun.importId) ?? {}
      return { total: added, processed: added, removed: added }
    }
    const { length: total } = begun.names
    if (begun.kind === "domain_blocks") {
      const before = this.domains.get(owner) ?? new Set()
      const names = new Set(begun.names)
      this.domains.set(owner, begun.overwrite ? names : new Set([...before, ...names]))
      const removed = begun.overwrite ? [...before].filter((name) => !names.has(name)).length : 0
      return {
        total,
        processed: total,
        added: [...names].filter((name) => !before.has(name)).length,
        removed,
        failed: 0
      }
    }
    const added = performed.filter(({ commandId }) => commandId?.includes(`:transfer:${id}:`)).length
    return { total, processed: total, added }
  }
}

/**
 * I36: each confirmed transfer ends; its counts and what it leaves are those of a run without faults, each post and
 * relation once; an undo removes what its import added.
 */
export const check = Effect.fnUntraced(function*(
  world: World,
  { sql }: Shared,
  performed: ReadonlyArray<Performed>
) {
  const { begun } = world.transfers
  const broken: Array<string> = []
  const rows = yield* sql<Row>`SELECT id, state, total, processed, added, removed, failed FROM transfers`
  const rowOf = new Map(rows.map((row) => [row.id, row]))
  const expected = new Expected()
  for (const transfer of begun.toSorted((one, other) => one.id < other.id ? -1 : 1)) {
    const { id, kind } = transfer
    const row = rowOf.get(id)
    if (row?.state === "finished") world.count(`${kind} finished`)
    else broken.push(`I36: the transfer ${id} (${kind}) is ${row?.state}, not finished`)
    for (const [name, wanted] of Object.entries(expected.perform(transfer, performed))) {
      const found = Object.entries(row ?? {}).find(([key]) => key === name)?.[1]
      if (found !== wanted) broken.push(`I36: the transfer ${id} (${kind}) has ${name} ${found}, not ${wanted}`)
    }
  }
  return [...broken, ...(yield* posts(sql, expected)), ...(yield* domains(sql, expected))]
})

/** Checks that each imported post exists once, and is of the import that added it. */
const posts = Effect.fnUntraced(function*(sql: Shared["sql"], expected: Expected) {
  const broken: Array<string> = []
  const rows = yield* sql<Post>`SELECT i.account_id, i.uri, i.transfer_id, s.deleted_at IS NOT NULL AS deleted
    FROM imported_statuses i JOIN statuses s ON s.id = i.status_id`
  const key = (account: bigint, uri: string) => `${uri} of ${account}`
  const left = new Map(rows.map((row) => [key(row.accountId, row.uri), row]))
  for (const [account, all] of expected.posts) {
    for (const [uri, importId] of all) {
      const row = left.get(key(account, uri))
      left.delete(key(account, uri))
      if (row === undefined || row.deleted) broken.push(`I36: the imported post ${uri} is missing`)
      else if (row.transferId !== importId) broken.push(`I36: the post ${uri} is of the import ${row.transferId}`)
    }
  }
  for (const name of left.keys()) broken.push(`I36: the post ${name} was not imported, or was undone`)
  const unknown = yield* sql<{ id: bigint }>`SELECT id FROM statuses s WHERE imported AND deleted_at IS NULL
    AND NOT EXISTS (SELECT FROM imported_statuses i WHERE i.status_id = s.id)`
  const notified = yield* sql<{ id: bigint }>`SELECT s.id FROM notifications n JOIN statuses s ON s.id = n.status_id
    WHERE s.imported`
  return [
    ...broken,
    ...unknown.map(({ id }) => `I36: the imported post ${id} is of no import`),
    ...notified.map(({ id }) => `I36: the imported post ${id} was notified`)
  ]
})

const domains = Effect.fnUntraced(function*(sql: Shared["sql"], expected: Expected) {
  const rows = yield* sql<{ accountId: bigint; domain: string }>`SELECT account_id, domain FROM domain_mutes`
  const blocked = Map.groupBy(rows, ({ accountId }) => accountId)
  return [...expected.domains].flatMap(([account, wanted]) => {
    const found = (blocked.get(account) ?? []).map(({ domain }) => domain)
    return String(found.toSorted()) === String([...wanted].toSorted())
      ? []
      : [`I36: ${account} blocks [${found}], not [${[...wanted]}]`]
  })
})
