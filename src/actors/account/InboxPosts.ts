import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../services/Broadcast.ts"
import type { ClientError } from "../../services/Errors.ts"
import { visibilityOf } from "../../services/federation/documents/Addressing.ts"
import { type ForeignNote, foreignNote } from "../../services/federation/documents/ForeignNote.ts"
import { asForeign, type Foreign, idOf, idsOf, urlReader } from "../../services/federation/documents/Reading.ts"
import { isEverybody } from "../../services/federation/documents/Vocabulary.ts"
import { Inquiries, Unasked } from "../../services/federation/fetching/Inquiries.ts"
import { References } from "../../services/federation/inbox/References.ts"
import { RemoteStatuses } from "../../services/federation/inbox/RemoteStatuses.ts"
import { Undoables } from "../../services/federation/inbox/Undoables.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { Publications } from "../../services/statuses/Publications.ts"
import { Reblogs } from "../../services/statuses/Reblogs.ts"
import { Targets } from "../../services/statuses/Targets.ts"
import * as InboxPolls from "./InboxPolls.ts"
import * as Intents from "./Intents.ts"
import { nextMillis, type Ownership } from "./Ownership.ts"
import type { RemoteSelf } from "./RemoteSelf.ts"
import type { Verbs } from "./Verbs.ts"

/** How old a post may be that an edit tells of first, in milliseconds (federation.md section 8). */
const unknownMillisMax = 86_400_000

/** What a post may be addressed to beside accounts. */
const isForAll = (uri: string, { followersUrl }: RemoteSelf) => isEverybody(uri) || uri === followersUrl

/** What became of an activity, for the record. */
export type Outcome = Effect.Effect<string, ClientError | SqlError | Unasked>

export const done = "done"
export const ignored = (why: string) => Effect.succeed(`ignored: ${why}`)

/** How old a post that was fetched may be to be told of in homes, streams and notifications, in milliseconds. */
export const newsMillisMax = 6 * 3_600_000

/** New, edited, boosted and deleted posts of a remote account; inside a transaction of its actor. */
export const make = Effect.fnUntraced(function*(verbs: Verbs<"Delete">) {
  const sql = yield* SqlClient.SqlClient
  const { outboundAllow } = yield* ServerConfig
  const broadcast = yield* Broadcast
  const inquiries = yield* Inquiries
  const intend = yield* Intents.make
  const polls = yield* InboxPolls.make
  const publications = yield* Publications
  const reblogs = yield* Reblogs
  const references = yield* References
  const statuses = yield* RemoteStatuses
  const targets = yield* Targets
  const undoables = yield* Undoables
  const readUrl = urlReader(outboundAllow)

  /** Whom a post mentions, and whether it is for them too. */
  const mentionsOf = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, note: ForeignNote) {
    const addressed = new Set(note.addressed)
    // Most posts are for everybody and the followers, who are no accounts.
    const people = [...new Set([...note.mentioned, ...note.addressed])].filter((uri) => !isForAll(uri, self))
    const named = yield* references.accounts(people)
    const shunning = yield* statuses.shunning(own.accountId, [...named.values()])
    return [...named].flatMap(([uri, id]) => {
      const quiet = !note.mentioned.includes(uri)
      // In a post for a few, whoever it is addressed to belongs to them, without being told where it does not name them.
      const counts = !quiet || note.visibility === "direct"
      return counts && id !== own.accountId
        ? [{ id, quiet, addressed: addressed.has(uri) && !shunning.has(id) }]
        : []
    })
  })

  const adopt = (uri: string) =>
    sql.withTransaction(statuses.adopt(uri)).pipe(
      Effect.flatMap((ids) =>
        ids.length === 0 ? Effect.void : broadcast.publish({ _tag: "Changed", kind: "status", ids })
      ),
      Effect.catchCause((cause) => Effect.logWarning("a reply did not find what it answers", cause))
    )

  /** `asked`: somebody wants it, so that it is kept although nobody here may be concerned. */
  const create = Effect.fnUntraced(function*(
    own: Ownership,
    self: RemoteSelf,
    object: unknown,
    now: number,
    asked: boolean
  ) {
    const document = asForeign(object) ?? {}
    const voted = yield* polls.vote(own, self, document)
    if (voted !== undefined) return voted
    const note = foreignNote(document, self, now, readUrl)
    if (note === undefined) return yield* ignored("no post of its sender")
    const { buried, followed } = yield* statuses.prospects(own.accountId, note.uri)
    if (buried) return yield* ignored("it was deleted")
    const parentId = note.inReplyTo === undefined ? undefined : yield* references.status(note.inReplyTo)
    const mentions = yield* mentionsOf(own, self, note)
    const open = note.visibility === "public" || note.visibility === "unlisted"
    const concerns = (asked && open) || parentId !== undefined || mentions.some((mention) => mention.addressed) ||
      followed
    if (!concerns) return yield* ignored("it concerns nobody here")
    const made = yield* statuses.insert(own.accountId, { note, parentId, mentions })
    if (made === undefined) return yield* ignored("it is here already")
    const { adopted, id } = made
    if (note.updatedMillis !== undefined && note.updatedMillis > note.publishedMillis) {
      // It was edited before it came, or the edit came before it.
      yield* publications.preserve(id, note.publishedMillis)
      yield* statuses.wasEdited(id, note.updatedMillis)
    }
    // What is asked for long after it was written is news to nobody.
    if (!asked || now - note.publishedMillis < newsMillisMax) yield* intend(own, "publish", id)
    yield* sql.afterCommit(Effect.andThen(
      broadcast.publish({ _tag: "Changed", kind: "account", ids: [own.accountId] }),
      broadcast.publish({
        _tag: "Changed",
        kind: "status",
        ids: [...adopted, ...(parentId === undefined ? [] : [parentId])]
      })
    ))
    if (!asked) {
      yield* sql.afterCommit(
        inquiries.around(parentId === undefined ? document : { ...document, inReplyTo: undefined })
      )
    }
    // What it answers may have come while this was not committed yet, and did not see it.
    if (parentId === undefined && note.inReplyTo !== undefined) yield* sql.afterCommit(adopt(note.inReplyTo))
    return done
  })

  /**
   * A newer version of a post of its own that is here; what it was before stays as its history. One that is not newer
   * tells how its poll stands, and nothing else.
   */
  const edit = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, object: unknown, now: number) {
    const document = asForeign(object)
    const note = document === undefined ? undefined : foreignNote(document, self, now, readUrl)
    if (note === undefined) return yield* ignored("no post of its sender")
    const stated = yield* statuses.state(own.accountId, note)
    if (stated !== undefined) {
      yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "status", ids: [stated] }))
    }
    if (note.updatedMillis === undefined && note.poll === undefined) {
      return yield* ignored("no newer post of its sender")
    }
    const [old] = yield* sql<{ id: bigint; changedAt: Date }>`
      SELECT id, coalesce(edited_at, created_at) AS changed_at FROM statuses
      WHERE uri = ${note.uri} AND account_id = ${own.accountId} AND deleted_at IS NULL`
    if (old === undefined && !self.suspended && now - note.publishedMillis < unknownMillisMax) {
      return yield* create(own, self, object, now, false)
    }
    const newest = old?.changedAt.getTime() ?? Number.POSITIVE_INFINITY
    const millis = note.updatedMillis ?? newest
    if (old === undefined || millis <= newest) {
      const counted = old !== undefined && millis === newest && note.poll !== undefined &&
        (yield* polls.tally(own, old.id, note.poll))
      return counted ? done : yield* ignored("nothing newer of what is here")
    }
    const mentions = yield* mentionsOf(own, self, note)
    yield* publications.preserve(old.id, millis)
    yield* polls.revise(own, old.id, note.poll)
    yield* statuses.decorate(note)
    yield* publications.revise(old.id, own.accountId, {
      millis,
      text: "",
      spoilerText: note.spoilerText,
      sensitive: note.sensitive,
      language: note.language,
      draft: {
        html: note.html,
        mentionIds: mentions.filter(({ addressed }) => addressed).map(({ id }) => id),
        tags: note.tags
      },
      mediaIds: yield* statuses.attach(own.accountId, old.id, note.attachments, millis)
    })
    yield* statuses.quieten(old.id, mentions)
    yield* intend(own, "edit", old.id)
    yield* sql.afterCommit(broadcast.publish({ _tag: "Changed", kind: "status", ids: [old.id] }))
    return done
  })

  /**
   * The post that is boosted. What comes with the boost is believed where the booster wrote it (row 9); any other post that
   * is not here is fetched, where somebody here would see the boost.
   */
  const boosted = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, object: unknown) {
    const uri = idOf(object) ?? ""
    const known = yield* references.status(uri)
    if (known !== undefined) return known
    if (readUrl(uri) === undefined || !(yield* statuses.isFollowed(own.accountId))) return undefined
    const embedded = asForeign(object)
    if (idsOf(embedded?.["attributedTo"]).includes(self.uri)) {
      yield* create(own, self, embedded, yield* Clock.currentTimeMillis, true)
      return yield* references.status(uri)
    }
    return yield* new Unasked({ inquiry: { kind: "post", uri } })
  })

  const announce = Effect.fnUntraced(function*(own: Ownership, self: RemoteSelf, activity: Foreign) {
    const uri = readUrl(activity["id"])
    if (uri === undefined || uri.origin !== URL.parse(self.uri)?.origin) {
      return yield* ignored("an id of another server")
    }
    if (yield* statuses.isBuried(own.accountId, uri.href)) return yield* ignored("it was undone")
    const statusId = yield* boosted(own, self, activity["object"])
    if (statusId === undefined) return yield* ignored("an unknown post")
    const target = yield* targets.visible(own.accountId, statusId)
    if (target.visibility === "direct" || target.visibility === "private") return yield* ignored("a post for a few")
    if (!target.local && !(yield* statuses.isFollowed(own.accountId))) return yield* ignored("it concerns nobody here")
    const before = yield* reblogs.find(own.accountId, target.id)
    if (before !== undefined) {
      yield* undoables.renew(own.accountId, before, uri.href)
      return yield* ignored("it is here already")
    }
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
    if (statusId !== undefined) {
      // Nobody will write it anew here, so that its files wait for nothing (S-107).
      yield* sql`DELETE FROM media_attachments WHERE status_id = ${statusId}`
      yield* verbs.Delete(own, { _tag: "Delete", statusId })
    }
    return done
  })

  return { create, edit, announce, remove }
})
