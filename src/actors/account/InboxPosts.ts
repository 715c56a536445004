import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../services/Broadcast.ts"
import type { ClientError } from "../../services/Errors.ts"
import { visibilityOf } from "../../services/federation/documents/Addressing.ts"
import { type ForeignNote, foreignNote } from "../../services/federation/documents/ForeignNote.ts"
import { asForeign, type Foreign, idOf, idsOf, urlReader } from "../../services/federation/documents/Reading.ts"
import { isEverybody } from "../../services/federation/documents/Vocabulary.ts"
import { References } from "../../services/federation/inbox/References.ts"
import { RemoteStatuses } from "../../services/federation/inbox/RemoteStatuses.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Publications } from "../../services/statuses/Publications.ts"
import { Reblogs } from "../../services/statuses/Reblogs.ts"
import { Targets } from "../../services/statuses/Targets.ts"
import * as Intents from "./Intents.ts"
import { nextMillis, type Ownership } from "./Ownership.ts"
import type { Verbs } from "./Verbs.ts"

/** The remote account whose actor this is. */
export interface RemoteSelf {
  readonly uri: string
  readonly followersUrl: string | null
  readonly suspended: boolean
}

/** What a post may be addressed to beside accounts. */
const isForAll = (uri: string, { followersUrl }: RemoteSelf) => isEverybody(uri) || uri === followersUrl

/** What became of an activity, for the record. */
export type Outcome = Effect.Effect<string, ClientError | SqlError>

export const done = "done"
export const ignored = (why: string) => Effect.succeed(`ignored: ${why}`)

/** New, edited, boosted and deleted posts of a remote account; inside a transaction of its actor. */
export const make = Effect.fnUntraced(function*(verbs: Verbs) {
  const sql = yield* SqlClient.SqlClient
  const { outboundAllow } = yield* ServerConfig
  const broadcast = yield* Broadcast
  const intend = yield* Intents.make
  const publications = yield* Publications
  const reblogs = yield* Reblogs
  const references = yield* References
  const statuses = yield* RemoteStatuses
  const targets = yield* Targets
  const readUrl = urlReader(outboundAllow)

  /** Whom a post mentions, and whether it is for them too. */
  const mentionsOf = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, note: ForeignNote) {
    const addressed = new Set(note.addressed)
    // Most posts are for everybody and the followers, who are no accounts.
    const people = [...new Set([...note.mentioned, ...note.addressed])].filter((uri) => !isForAll(uri, self))
    const named = yield* references.accounts(people)
    return [...named].flatMap(([uri, id]) => {
      // In a post for a few, whoever it is addressed to belongs to them.
      const counts = note.mentioned.includes(uri) || note.visibility === "direct"
      return counts && id !== own.accountId ? [{ id, addressed: addressed.has(uri) }] : []
    })
  })

  const create = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, object: unknown, now: number) {
    const document = asForeign(object)
    const note = document === undefined ? undefined : foreignNote(document, self, now, readUrl)
    if (note === undefined) return yield* ignored("no post of its sender")
    const { buried, followed } = yield* statuses.prospects(own.accountId, note.uri)
    if (buried) return yield* ignored("it was deleted")
    const parentId = note.inReplyTo === undefined ? undefined : yield* references.status(note.inReplyTo)
    const mentions = yield* mentionsOf(own, self, note)
    const concerns = parentId !== undefined || mentions.some((mention) => mention.addressed) || followed
    if (!concerns) return yield* ignored("it concerns nobody here")
    const id = yield* statuses.insert(own.accountId, { note, parentId, mentions })
    if (id === undefined) return yield* ignored("it is here already")
    yield* intend(own, "publish", id)
    yield* sql.afterCommit(Effect.andThen(
      broadcast.publish({ _tag: "Changed", kind: "account", ids: [own.accountId] }),
      parentId === undefined ? Effect.void : broadcast.publish({ _tag: "Changed", kind: "status", ids: [parentId] })
    ))
    return done
  })

  /** A newer version of a post of its own that is here; what it was before stays as its history. */
  const edit = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, object: unknown, now: number) {
    const document = asForeign(object)
    const note = document === undefined ? undefined : foreignNote(document, self, now, readUrl)
    if (note?.updatedMillis === undefined) return yield* ignored("no newer post of its sender")
    const [old] = yield* sql<{ id: bigint; changedAt: Date }>`
      SELECT id, coalesce(edited_at, created_at) AS changed_at FROM statuses
      WHERE uri = ${note.uri} AND account_id = ${own.accountId} AND deleted_at IS NULL`
    if (old === undefined || note.updatedMillis <= old.changedAt.getTime()) {
      return yield* ignored("nothing newer of what is here")
    }
    const mentions = yield* mentionsOf(own, self, note)
    yield* publications.preserve(old.id, note.updatedMillis)
    yield* publications.revise(old.id, own.accountId, {
      millis: note.updatedMillis,
      text: "",
      spoilerText: note.spoilerText,
      sensitive: note.sensitive,
      language: note.language,
      draft: {
        html: note.html,
        mentionIds: mentions.filter(({ addressed }) => addressed).map(({ id }) => id),
        tags: note.tags
      },
      mediaIds: yield* statuses.attach(own.accountId, old.id, note.attachments, note.updatedMillis)
    })
    yield* intend(own, "edit", old.id)
    yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "status", ids: [old.id] }))
    return done
  })

  const announce = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, activity: Foreign) {
    const statusId = yield* references.status(idOf(activity["object"]) ?? "")
    if (statusId === undefined) return yield* ignored("an unknown post")
    const uri = readUrl(activity["id"])
    if (uri === undefined || uri.origin !== URL.parse(self.uri)?.origin) {
      return yield* ignored("an id of another server")
    }
    if (yield* statuses.isBuried(own.accountId, uri.href)) return yield* ignored("it was undone")
    const target = yield* targets.visible(own.accountId, statusId)
    if (target.visibility === "direct" || target.visibility === "private") return yield* ignored("a post for a few")
    if (!target.local && !(yield* statuses.isFollowed(own.accountId))) return yield* ignored("it concerns nobody here")
    if ((yield* reblogs.find(own.accountId, target.id)) !== undefined) return yield* ignored("it is here already")
    const meant = visibilityOf({ to: idsOf(activity["to"]), cc: idsOf(activity["cc"]) }, self.followersUrl ?? undefined)
    const visibility = meant === "direct" ? "private" : meant
    const id = yield* reblogs.insert(own.accountId, target.id, visibility, yield* nextMillis(own))
    yield* sql`UPDATE statuses SET uri = ${uri.href}, local = false WHERE id = ${id}`
    yield* intend(own, "publish", id)
    if (target.local) {
      const notice = { type: "reblog", to: String(target.accountId), statusId: String(target.id) } as const
      yield* intend(own, "notify", null, notice)
    }
    yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "status", ids: [target.id] }))
    return done
  })

  const remove = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, object: unknown) {
    const uri = idOf(object) ?? ""
    const url = readUrl(uri)
    if (url?.origin !== URL.parse(self.uri)?.origin) return yield* ignored("an id of another server")
    const statusId = yield* references.status(uri)
    const [mine] = statusId === undefined ? [] : yield* sql`SELECT FROM statuses
      WHERE id = ${statusId} AND account_id = ${own.accountId} AND deleted_at IS NULL`
    if (statusId !== undefined && mine === undefined) return yield* ignored("not its sender's, or gone")
    yield* statuses.bury(own.accountId, uri)
    if (statusId !== undefined) yield* verbs.Delete(own, { _tag: "Delete", statusId })
    return done
  })

  return { create, edit, announce, remove }
})
