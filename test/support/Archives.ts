import { assert } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { zipSync } from "fflate"
import * as ArchiveImports from "../../src/actors/transfers/ArchiveImports.ts"
import type { TransferHandler } from "../../src/actors/transfers/TransferHandler.ts"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { Timelines } from "../../src/services/feeds/Timelines.ts"
import { FileOwners } from "../../src/services/media/FileOwners.ts"
import { StoredFiles } from "../../src/services/media/StoredFiles.ts"
import { ArchiveImport, emptyPlan } from "../../src/services/transfers/archives/ArchiveImport.ts"
import { ArchiveParts } from "../../src/services/transfers/archives/ArchiveParts.ts"
import { ArchiveReader } from "../../src/services/transfers/archives/ArchiveReader.ts"
import { ArchiveRequests } from "../../src/services/transfers/archives/ArchiveRequests.ts"
import { ArchiveWriter } from "../../src/services/transfers/archives/ArchiveWriter.ts"
import { ImportedPosts } from "../../src/services/transfers/archives/ImportedPosts.ts"
import type { Transfer } from "../../src/services/transfers/Transfer.ts"
import { TransferQueue } from "../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../src/services/transfers/Transfers.ts"
import { picture } from "./MediaFiles.ts"
import { user } from "./SignedIn.ts"
import { server } from "./WebServer.ts"

/** The server with the services that archives need. */
export const archiveServer = ArchiveWriter.layer.pipe(
  Layer.provideMerge(ArchiveParts.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      ArchiveReader.layer,
      ArchiveRequests.layer,
      ImportedPosts.layer,
      TransferQueue.layer,
      Transfers.layer
    )
  ),
  Layer.provideMerge(Layer.mergeAll(FileOwners.layer, StoredFiles.layer, Timelines.layer)),
  Layer.provideMerge(server())
)

/**
 * Runs the steps of an account's due transfer as a node does. `dies` is asked before and after each step: a node that
 * dies there loses what it did not commit, and the lease ends at once.
 */
export const runTransfer = Effect.fnUntraced(function*(
  handler: TransferHandler,
  dies: (step: number, when: "before" | "after") => boolean = () => false
) {
  const queue = yield* TransferQueue
  const claim = Effect.map(queue.claim(1), ([transfer]) => transfer)
  let transfer = yield* claim
  for (let step = 0; transfer !== undefined; step++) {
    if (dies(step, "before")) {
      // The step's rows are rolled back; files that it stored have no owner.
      const lost: Transfer = { ...transfer, dueAt: new Date(0) }
      yield* Effect.exit(handler.step(lost))
      yield* abandon(transfer.id)
      transfer = yield* claim
      continue
    }
    const { claimed, end } = yield* handler.step(transfer)
    if (dies(step, "after")) {
      yield* abandon(transfer.id)
      transfer = yield* claim
      continue
    }
    if (end._tag !== "More") {
      yield* queue.release(claimed, end)
      return end
    }
    transfer = claimed
  }
  return yield* Effect.die(new Error("No transfer was due"))
})

/** Stores bytes as the upload of an import, and begins it. */
export const beginImport = Effect.fnUntraced(function*(owner: AccountId, archive: Uint8Array) {
  const files = yield* StoredFiles
  const owners = yield* FileOwners
  const transfers = yield* Transfers
  const { bytes, name } = yield* files.receive("upload", Stream.make(archive), archive.length)
  return yield* transfers.begin(
    owner,
    {
      kind: "archive_in",
      options: { fileName: name, bytes, owner: null, plan: emptyPlan, confirmed: false },
      total: 0,
      failed: 0,
      unconfirmed: false
    },
    (transferId) => Effect.asVoid(owners.hold([name], { transferId }))
  )
})

export const everybody = "https://www.w3.org/ns/activitystreams#Public"

/** Builds the archive of an account of another server, as Mastodon writes it. */
export const mastodonArchive = (
  actor: string,
  items: ReadonlyArray<unknown>,
  files: Readonly<Record<string, Uint8Array>> = {},
  outboxFirst = false
): Uint8Array => {
  const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
  const outbox = {
    "outbox.json": text({
      "@context": "https://www.w3.org/ns/activitystreams",
      id: "outbox.json",
      type: "OrderedCollection",
      totalItems: items.length,
      orderedItems: items
    })
  }
  const others = {
    "likes.json": text({ id: "likes.json", orderedItems: [] }),
    "actor.json": text({ id: actor, type: "Person", followers: `${actor}/followers`, outbox: "outbox.json" })
  }
  return zipSync(outboxFirst ? { ...outbox, ...files, ...others } : { ...files, ...outbox, ...others }, { level: 1 })
}

export const noteOf = (actor: string, id: number, more: object = {}) => {
  const note = {
    id: `${actor}/statuses/${id}`,
    type: "Note",
    published: new Date(Date.UTC(2019, 0, 1, 0, id)).toISOString(),
    attributedTo: actor,
    to: [everybody],
    cc: [`${actor}/followers`],
    content: `<p>post ${id}</p>`,
    ...more
  }
  const { cc, published, to } = note
  return { id: `${note.id}/activity`, type: "Create", actor, published, to, cc, object: note }
}

/** Bytes of a small picture. */
export const photo = Effect.promise(() => picture().png().toBuffer())

/** Makes posts, of which the first `pictures` have a picture each, and their files by path. */
export const picturedPosts = (
  actor: string,
  posts: number,
  pictures: number,
  more: (n: number) => object = () => ({})
) =>
  Effect.map(photo, (image) => {
    const paths = Array.from({ length: pictures }, (_, n) => `media_attachments/${n}.png`)
    const items = Array.from({ length: posts }, (_, n) => {
      const attachment = paths.slice(n, n + 1).map((url) => ({ type: "Document", mediaType: "image/png", url }))
      return noteOf(actor, n, { ...more(n), attachment })
    })
    return { items, files: Object.fromEntries(paths.map((path) => [path, image])) }
  })

/** Makes a queue whose node dies before or after the commit with the index `at`; later ones are not reached. */
const dyingQueue = (queue: TransferQueue["Service"], at: number, when: "before" | "after") => {
  let left = at
  return TransferQueue.of({
    ...queue,
    commit: (claimed, progress, write) =>
      Effect.suspend(() => {
        if (left-- !== 0) return queue.commit(claimed, progress, write)
        return when === "before"
          ? Effect.interrupt
          : Effect.andThen(queue.commit(claimed, progress, write), Effect.interrupt)
      })
  })
}

/** Runs a step of an import on a node that dies before or after the commit with the index `at`. */
export const runUntilDeath = Effect.fnUntraced(function*(id: bigint, at: number, when: "before" | "after") {
  const queue = yield* TransferQueue
  const [claimed] = yield* queue.claim(1)
  const handler = yield* Effect.provideService(ArchiveImports.make, TransferQueue, dyingQueue(queue, at, when))
  assert.isTrue(Exit.isFailure(yield* Effect.exit(handler.step(claimed!))))
  yield* abandon(id)
})

/** Runs work under a clock that advances by `millis` at each reading. */
export const slowed = <A, E, R>(work: Effect.Effect<A, E, R>, millis: number) =>
  Effect.flatMap(Clock.Clock, (clock) => {
    let late = 0
    const slow: Clock.Clock = Object.assign(Object.create(clock), {
      currentTimeMillis: Effect.sync(() => clock.currentTimeMillisUnsafe() + (late += millis))
    })
    return Effect.provideService(work, Clock.Clock, slow)
  })

/** Ends the lease of a transfer, as if its node had died long ago. */
export const abandon = Effect.fnUntraced(function*(id: bigint) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE transfers SET due_at = now() - interval '1 day' WHERE id = ${id}`
})

export const claimAlias = Effect.fnUntraced(function*(owner: AccountId, actor: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE accounts SET also_known_as = ARRAY[${actor}] WHERE id = ${owner}`
})

/** Creates a member with an actor of another server as an alias; returns the member and the actor's id. */
export const mover = Effect.fnUntraced(function*(name: string) {
  const [owner, actor] = [yield* user(name), `https://old.example/users/${name}`]
  yield* claimAlias(owner, actor)
  return [owner, actor] as const
})

/** Reads an archive up to its plan; returns the plan, or the problem. */
export const planOf = Effect.fnUntraced(
  function*(owner: AccountId, archive: Uint8Array, dies?: Parameters<typeof runTransfer>[1]) {
    const { id } = yield* beginImport(owner, archive)
    const end = yield* runTransfer(yield* ArchiveImports.make, dies)
    const transfers = yield* Transfers
    const found = yield* transfers.find(owner, id)
    const { plan } = yield* Schema.decodeUnknownEffect(ArchiveImport)(found.options)
    return { id, end, plan, problem: found.problem, state: found.state, total: found.total }
  }
)
export const importArchive = Effect.fnUntraced(
  function*(owner: AccountId, archive: Uint8Array, dies?: Parameters<typeof runTransfer>[1]) {
    const transfers = yield* Transfers
    const { id, state } = yield* planOf(owner, archive, dies)
    assert.strictEqual(state, "unconfirmed")
    yield* ArchiveRequests.use((archives) => archives.confirm(owner, id))
    assert.strictEqual((yield* runTransfer(yield* ArchiveImports.make, dies))._tag, "Finished")
    return yield* transfers.find(owner, id)
  }
)

interface Row {
  readonly id: bigint
  readonly html: string
  readonly text: string
  readonly visibility: string
  readonly inReplyToId: bigint | null
  readonly reblogOfId: bigint | null
  readonly spoilerText: string
  readonly sensitive: boolean
  readonly language: string | null
  readonly createdAt: Date
  readonly mediaIds: ReadonlyArray<bigint>
  readonly conversationId: bigint
}
export const postsOf = Effect.fnUntraced(function*(owner: AccountId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<Row>`SELECT * FROM statuses WHERE account_id = ${owner} AND deleted_at IS NULL ORDER BY id`
})
/** Returns everything about an account's posts but their ids. */
export const contentOf = Effect.fnUntraced(function*(owner: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const posts = yield* sql`SELECT s.text, s.visibility, s.created_at, p.text AS parent, o.text AS boosted,
      cardinality(s.media_ids) AS files FROM statuses s LEFT JOIN statuses p ON p.id = s.in_reply_to_id
    LEFT JOIN statuses o ON o.id = s.reblog_of_id
    WHERE s.account_id = ${owner} AND s.deleted_at IS NULL ORDER BY s.created_at, s.text`
  const [stats] = yield* sql`SELECT statuses_count, last_status_at FROM account_stats WHERE account_id = ${owner}`
  return { posts, stats }
})
