import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { type Foreign, idOf } from "../../services/federation/documents/ForeignValues.ts"
import { videoBytesMax } from "../../services/instance/ContentLimits.ts"
import { insertItems } from "../../services/transfers/archives/StagedRows.ts"
import { linesMax } from "../../services/transfers/ImportLine.ts"
import { ImportLines } from "../../services/transfers/ImportLines.ts"
import {
  firstLiveCursor,
  firstPlaces,
  type LiveCursor,
  type LiveImport,
  type LiveProblem,
  type LiveSecrets,
  type LiveSource
} from "../../services/transfers/live/LiveImport.ts"
import { LiveImports } from "../../services/transfers/live/LiveImports.ts"
import { activityRows, itemsIn, linesOf, nextPage } from "../../services/transfers/live/LivePages.ts"
import { LiveSources, type SourceFailed } from "../../services/transfers/live/LiveSources.ts"
import type { Transfer } from "../../services/transfers/Transfer.ts"
import { isLeaseLost, type StepEnd, TransferQueue } from "../../services/transfers/TransferQueue.ts"
import { Transfers } from "../../services/transfers/Transfers.ts"
import * as LiveFiles from "./LiveFiles.ts"
import * as StagedPosts from "./StagedPosts.ts"
import type { TransferHandler } from "./TransferHandler.ts"

/** Pause between two pages of one server, in milliseconds. */
const pageMillis = 250
/** Failed requests in a row after which an import fails; with the pauses between them, an hour. */
const failuresMax = 24
const failedSecondsMin = 150
/** Maximum posts of an account, bytes of their JSON, and pages of each collection. */
const itemsMax = 500_000
const bytesMax = 1_073_741_824
const pagesMax = 50_000
/** Delay of the imports of lists while the account has too many others, in milliseconds. */
const crowdedMillis = 600_000

/** Timeout of a step that fetches files, in seconds; each file renews the lease. */
const filesSecondsMax = 3 * 3_600

const more: StepEnd = { _tag: "More" }
const unconfirmed: StepEnd = { _tag: "Unconfirmed" }
const failedBy = (problem: LiveProblem): StepEnd => ({ _tag: "Failed", problem })

/** Phases in which a collection is read, with the phases after them. */
const nextPhases = { following: "blocked", blocked: "liked", liked: "plan" } as const

/** The latest claim of a step that renews it. */
interface Lease {
  claimed: Transfer
}

/** An import whose owner gave consent. */
interface Opened {
  readonly options: LiveImport
  readonly cursor: LiveCursor
  readonly source: LiveSource
  readonly secrets: LiveSecrets
  readonly token: string
}

/**
 * Imports of accounts from their servers. Each page is committed with the cursor of the next one, so that a node that
 * dies repeats one page at most; posts are imported as those of archives.
 */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const files = yield* LiveFiles.make
  const imports = yield* LiveImports
  const lines = yield* ImportLines
  const queue = yield* TransferQueue
  const sources = yield* LiveSources
  const staged = yield* StagedPosts.make
  const transfers = yield* Transfers

  const later = (millis: number) =>
    Effect.map(Clock.currentTimeMillis, (now): StepEnd => ({ _tag: "Later", dueAt: now + millis }))

  /** Repeats a request that failed for now; ends the import if it failed too often, or cannot succeed. */
  const missed = Effect.fnUntraced(function*(
    claimed: Transfer,
    cursor: LiveCursor,
    { problem, retrySeconds }: SourceFailed
  ) {
    if (retrySeconds === undefined || cursor.failures >= failuresMax) return { claimed, end: failedBy(problem) }
    const next = yield* queue.commit(claimed, { cursor: { ...cursor, failures: cursor.failures + 1 } })
    return { claimed: next, end: yield* later(Math.max(retrySeconds, failedSecondsMin) * 1_000) }
  })

  const discover = Effect.fnUntraced(function*(claimed: Transfer, options: LiveImport, cursor: LiveCursor) {
    const { clientSecret, source } = yield* sources.discover(options.address, imports.redirectUri)
    const secrets = yield* imports.seal(yield* imports.newSecrets(claimed.id, clientSecret))
    const next = yield* queue.commit(claimed, {
      options: { ...options, source, secrets } satisfies LiveImport,
      cursor: { ...cursor, phase: "authorize", failures: 0 } satisfies LiveCursor
    })
    return { claimed: next, end: unconfirmed }
  })

  const authorize = Effect.fnUntraced(function*(
    claimed: Transfer,
    options: LiveImport,
    cursor: LiveCursor,
    source: LiveSource,
    secrets: LiveSecrets
  ) {
    if (secrets.code === undefined) return { claimed, end: unconfirmed }
    const token = yield* sources.exchange(source, secrets, imports.redirectUri)
    const { clientSecret, state, verifier } = secrets
    const held: LiveSecrets = { clientSecret, state, verifier, token }
    const next = yield* queue.commit(claimed, {
      options: { ...options, secrets: yield* imports.seal(held) } satisfies LiveImport,
      cursor: { ...cursor, phase: "actor", failures: 0 } satisfies LiveCursor
    }).pipe(
      // The import was cancelled in the meantime, and no row has the token.
      Effect.tapError((error) => isLeaseLost(error) ? Effect.ignore(sources.revoke(source, held)) : Effect.void)
    )
    return { claimed: next, end: more }
  })

  const actor = Effect.fnUntraced(function*(claimed: Transfer, { cursor, options, source, token }: Opened) {
    const document = yield* sources.read(source, token, source.actor)
    // Later drafts have an object with the collections.
    const migration = document["migration"]
    const collections: Foreign = typeof migration === "object" && migration !== null ? { ...migration } : {}
    const posts = idOf(migration) ?? idOf(collections["outbox"]) ?? idOf(collections["content"]) ??
      idOf(document["content"])
    if (idOf(document["id"]) !== source.actor || posts === undefined) {
      return { claimed, end: failedBy("not_supported") }
    }
    const owner = { uri: source.actor, followersUrl: idOf(document["followers"]) ?? null }
    const next = yield* queue.commit(claimed, {
      options: { ...options, owner } satisfies LiveImport,
      cursor: {
        ...cursor,
        phase: "posts",
        posts,
        following: idOf(collections["following"]) ?? idOf(document["following"]) ?? null,
        blocked: idOf(collections["blocked"]) ?? idOf(document["blocked"]) ?? null,
        liked: idOf(collections["liked"]) ?? idOf(document["liked"]) ?? null,
        failures: 0
      } satisfies LiveCursor
    })
    return { claimed: next, end: more }
  })

  /** Reads a page of a collection; undefined at its end. The collection itself may have items. */
  const page = Effect.fnUntraced(function*({ cursor, source, token }: Opened, collection: string | null) {
    const url = cursor.page ?? collection
    if (url === null || cursor.pages >= pagesMax) return undefined
    const document = yield* sources.read(source, token, url)
    const next = nextPage(document)
    return { items: itemsIn(document), next: next === url ? undefined : next }
  })

  /** Returns the cursor after a page: of the next page, or of the next phase. */
  const after = (cursor: LiveCursor, next: string | undefined, phase: LiveCursor["phase"]): LiveCursor =>
    next === undefined
      ? { ...cursor, phase, page: null, pages: 0, items: 0, failures: 0 }
      : { ...cursor, page: next, pages: cursor.pages + 1, failures: 0 }

  const posts = Effect.fnUntraced(function*(claimed: Transfer, opened: Opened) {
    const { cursor, source } = opened
    const found = yield* page(opened, cursor.posts)
    const rows = activityRows(found?.items ?? [], source.actor, cursor.items)
    const read = {
      ...cursor,
      items: cursor.items + rows.length,
      bytes: cursor.bytes + rows.reduce((sum, { activity }) => sum + Buffer.byteLength(activity), 0)
    }
    if (read.items > itemsMax || read.bytes > bytesMax) return { claimed, end: failedBy("too_many_posts") }
    const following = after(read, found?.next, "following")
    const next = yield* queue.commit(claimed, { cursor: following }, insertItems(sql, claimed.id, rows))
    return { claimed: next, end: yield* later(pageMillis) }
  })

  /** Reads follows, blocks or favourites; those beyond the maximum lines of an import are left out. */
  const list = Effect.fnUntraced(function*(claimed: Transfer, opened: Opened, kind: keyof typeof nextPhases) {
    const { cursor, options } = opened
    const found = yield* page(opened, cursor[kind] ?? null).pipe(
      // Servers may keep favourites to themselves.
      Effect.catchIf(
        ({ retrySeconds }) => kind === "liked" && retrySeconds === undefined,
        () => Effect.succeed(undefined)
      )
    )
    const read = linesOf(found?.items ?? []).slice(0, linesMax - cursor.items)
    const items = cursor.items + read.length
    const nextUrl = items >= linesMax ? undefined : found?.next
    const next = yield* queue.commit(
      claimed,
      {
        options: { ...options, [kind]: items } satisfies LiveImport,
        cursor: after({ ...cursor, items }, nextUrl, nextPhases[kind])
      },
      lines.add(claimed.id, read, firstPlaces[kind] + cursor.items)
    )
    return { claimed: next, end: yield* later(pageMillis) }
  })

  const posted = Effect.fnUntraced(function*(lease: Lease, opened: Opened, now: number) {
    const { cursor, options: { owner }, source, token } = opened
    if (owner === null) return { claimed: lease.claimed, end: failedBy("unreadable_source") }
    const items = (yield* staged.next(lease.claimed, owner, now)).map(LiveFiles.byUrl)
    // After an hour without response each further file gets one try.
    const last = cursor.failures >= failuresMax
    const commit = (write: Effect.Effect<void, SqlError>) =>
      Effect.map(queue.commit(lease.claimed, { repeated: true }, write), (renewed) => void (lease.claimed = renewed))
    const read: LiveFiles.Reading = (url, use) => sources.file(source, token, url, videoBytesMax, use)
    yield* files.fetch(lease.claimed.id, items, read, last, commit)
    const { claimed: imported, end } = yield* staged.imports(lease.claimed, items)
    const phase = end._tag === "Finished" ? "lists" : "planned"
    if (phase === "planned" && (cursor.failures === 0 || last)) return { claimed: imported, end: more }
    const next = yield* queue.commit(imported, { cursor: { ...cursor, phase, failures: 0 } })
    return { claimed: next, end: more }
  })

  /** Begins an import of follows, blocks or favourites that the owner chose, each once; ends the transfer after the last one. */
  const lists = Effect.fnUntraced(function*(claimed: Transfer, { options }: Opened) {
    const { accountId, id } = claimed
    const list = ([
      ["follows", "following", options.withFollows ? options.following : 0],
      ["blocks", "blocked", options.withBlocks ? options.blocked : 0],
      ["favourites", "liked", options.withLikes === true ? options.liked ?? 0 : 0]
    ] as const).find(([, , total]) => total > 0)
    if (list === undefined) return { claimed, end: { _tag: "Finished" } as const }
    const [kind, from, total] = list
    const newTransfer = {
      kind,
      source: options.address,
      options: { overwrite: false, follow: false },
      total,
      failed: 0
    }
    let next = claimed
    const write = (to: bigint) =>
      Effect.gen(function*() {
        yield* lines.move(id, to, firstPlaces[from], linesMax)
        next = yield* Effect.orDie(queue.commit(claimed, { options: { ...options, [from]: 0 } }))
      })
    const crowded = yield* Effect.option(transfers.begin(accountId, { ...newTransfer, unconfirmed: false }, write))
    return { claimed: next, end: crowded._tag === "None" ? yield* later(crowdedMillis) : more }
  })

  const next = Effect.fnUntraced(function*(claimed: Transfer) {
    const { cursor = firstLiveCursor, options } = yield* imports.open(claimed)
    const { source } = options
    const lease: Lease = { claimed }
    return yield* Effect.gen(function*() {
      if (cursor.phase === "discover" || source === null) return yield* discover(claimed, options, cursor)
      const secrets = yield* imports.unseal(options)
      if (secrets === undefined) return { claimed, end: failedBy("no_consent") }
      if (cursor.phase === "authorize") return yield* authorize(claimed, options, cursor, source, secrets)
      const { token } = secrets
      if (token === undefined) return { claimed, end: failedBy("no_consent") }
      const opened = { options, cursor, source, secrets, token }
      const now = yield* Clock.currentTimeMillis
      switch (cursor.phase) {
        case "actor":
          return yield* actor(claimed, opened)
        case "posts":
          return yield* posts(claimed, opened)
        case "following":
        case "blocked":
        case "liked":
          return yield* list(claimed, opened, cursor.phase)
        case "plan":
          return options.owner === null
            ? { claimed, end: failedBy("unreadable_source") }
            : yield* staged.plan(claimed, { ...options, owner: options.owner }, cursor, now, false)
        case "planned":
          return options.confirmed ? yield* posted(lease, opened, now) : { claimed, end: unconfirmed }
        case "lists":
          return yield* lists(claimed, opened)
      }
    }).pipe(Effect.catchTag("SourceFailed", (error) => missed(lease.claimed, cursor, error)))
  })

  const step = Effect.fnUntraced(function*(claimed: Transfer) {
    const done = yield* next(claimed)
    const { claimed: last, end } = done
    if (end._tag !== "Finished" && end._tag !== "Failed") return done
    const isRevoked = yield* imports.revoke(last)
    return { claimed: last, end: { ...end, keepsSecrets: !isRevoked } }
  })

  const handler: TransferHandler = { secondsMax: filesSecondsMax, step }
  return handler
})
