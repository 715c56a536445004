import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { accountIdRows, rowsOf } from "../../database/Rows.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import type { OutgoingActivity } from "../../intents/Intent.ts"
import { traced } from "../../runtime/Traced.ts"
import { blocks } from "../../visibility/HiddenAccounts.ts"
import { CollectionObjects } from "../CollectionObjects.ts"
import * as Activities from "../documents/Activities.ts"
import * as CollectionActivities from "../documents/CollectionActivities.ts"
import { hashtag } from "../documents/HashtagDocument.ts"
import type { Document } from "../documents/Vocabulary.ts"
import { LocalActors } from "../LocalActors.ts"
import * as LocalIds from "../LocalIds.ts"
import { Objects } from "../Objects.ts"
import type { OutboxItem } from "./Outbox.ts"
import { DeliveredPost, type Recipients, recipients } from "./Recipients.ts"

/** Activity rendered from current data, with its recipients; `statusId` is its post. */
export interface Rendered {
  readonly item: OutboxItem
  readonly recipients: Recipients
  readonly statusId: bigint | null
  /** True if the activity gives its receivers the post. */
  readonly carries: boolean
}

const OutgoingPost = Schema.Struct({
  ...DeliveredPost.fields,
  deleted: Schema.Boolean,
  silent: Schema.Boolean,
  actorPath: LocalIds.ActorPath,
  /** Id of the reblogged status. */
  originalId: Schema.NullOr(Schema.BigInt)
})
type OutgoingPost = typeof OutgoingPost.Type
const postRows = rowsOf(OutgoingPost)
const nameRows = rowsOf(Schema.Struct({ username: Schema.String, actorPath: LocalIds.ActorPath }))

type CollectionNews = Extract<OutgoingActivity["leaves"], `${string}Collection` | `${string}Item`>

const followersOnly = (accountId: bigint): Recipients => ({
  followersOf: [accountId],
  accountIds: [],
  reached: false,
  relayed: false,
  interacted: false
})

/** Renders activities at the time of sending: a post that was deleted by then is never sent. */
export class OutgoingActivities extends Context.Service<OutgoingActivities, {
  readonly render: (
    accountId: bigint,
    statusId: bigint | null,
    outgoing: OutgoingActivity
  ) => Effect.Effect<Rendered | undefined, SqlError>
}>()("murmuration/services/federation/outbox/OutgoingActivities") {
  static readonly layerNoDeps = Layer.effect(
    OutgoingActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const actors = yield* LocalActors
      const collections = yield* CollectionObjects
      const objects = yield* Objects

      /** A silenced author's posts reach only followers; accounts that the author blocks get nothing. */
      const postOf = (statusId: bigint) =>
        postRows(sql`WITH post AS (SELECT s.*, a.actor_path, a.suspended_at, a.silenced_at FROM statuses s
            JOIN accounts a ON a.id = s.account_id WHERE s.id = ${statusId} AND s.local AND NOT s.local_only AND a.domain IS NULL),
          welcome AS (SELECT w.id FROM post, LATERAL (SELECT account_id AS id FROM mentions
              WHERE status_id = post.id AND NOT silent UNION SELECT post.in_reply_to_account_id) w
            WHERE NOT ${blocks(sql, sql`post.account_id`, sql`w.id`)}
              AND (post.silenced_at IS NULL OR EXISTS (SELECT FROM follows f
                WHERE f.account_id = w.id AND f.target_account_id = post.account_id) OR EXISTS (SELECT FROM follow_requests f
                WHERE f.account_id = w.id AND f.target_account_id = post.account_id)))
        SELECT p.account_id AS author_id, p.visibility, p.actor_path, p.deleted_at IS NOT NULL AS deleted,
          p.suspended_at IS NOT NULL AS silent, p.silenced_at IS NOT NULL AS silenced, o.id AS original_id, o.account_id AS original_author,
          (SELECT id FROM welcome WHERE id = p.in_reply_to_account_id) AS replied_to,
          coalesce(r.domain IS NULL AND r.id IS NOT NULL, false) AS replied_to_local,
          (SELECT quoted_account_id FROM quotes WHERE status_id = p.id AND state IN ('pending', 'accepted')) AS quoted_author,
          ARRAY(SELECT m.account_id FROM mentions m JOIN welcome w ON w.id = m.account_id
            WHERE m.status_id = p.id AND NOT m.silent) AS mentioned
        FROM post p LEFT JOIN statuses o ON o.id = p.reblog_of_id LEFT JOIN accounts r ON r.id = p.in_reply_to_account_id`)

      const ended = Effect.fnUntraced(function*(statusId: bigint, { actorPath, originalAuthor }: OutgoingPost) {
        const id = LocalIds.note(config, actorPath, statusId)
        if (originalAuthor === null) return Activities.deleteNote(LocalIds.actor(config, actorPath), id)
        const found = (yield* objects.load([statusId])).get(statusId)
        return found === undefined ? undefined : Activities.undo(Activities.published(found.activity))
      })

      /** A followers-only post cannot be fetched, so its author's own boost embeds it (federation.md section 8). */
      const inlined = Effect.fnUntraced(
        function*(activity: Document, { authorId, originalAuthor, originalId, visibility }: OutgoingPost) {
          if (visibility !== "private" || originalId === null || originalAuthor !== authorId) return activity
          const note = (yield* objects.load([originalId])).get(originalId)?.note
          return note === undefined ? activity : { ...activity, object: note }
        }
      )

      const renderPost = Effect.fnUntraced(
        function*(statusId: bigint, change: "Create" | "Update", post: OutgoingPost) {
          const found = (yield* objects.load([statusId])).get(statusId)
          if (found === undefined) return undefined
          if (change === "Create") return Activities.published(yield* inlined(found.activity, post))
          // Poll counts change without an edit, so the time of the last edit is not unique.
          return found.note && Activities.updateNote(found.note, new Date(yield* Clock.currentTimeMillis))
        }
      )

      const ofPost = Effect.fnUntraced(function*(statusId: bigint, change: "Create" | "Update" | "Delete") {
        const [post] = yield* postOf(statusId)
        if (post === undefined || (change === "Delete") !== post.deleted) return undefined
        if (post.silent && change !== "Delete") return undefined
        const activity = change === "Delete" ? yield* ended(statusId, post) : yield* renderPost(statusId, change, post)
        if (activity === undefined) return undefined
        const forFew = post.visibility === "private" && change !== "Delete"
        return {
          item: { senderId: post.authorId, about: statusId, activity, synchronizes: forFew },
          recipients: recipients(change, post),
          statusId,
          carries: change !== "Delete"
        } satisfies Rendered
      })

      /** Renders a change of a collection or its items, for the owner's followers and the accounts in it. */
      const ofCollection = Effect.fnUntraced(function*(
        accountId: bigint,
        actor: string,
        { number, target = "" }: OutgoingActivity,
        leaves: CollectionNews,
        rendered: (activity: Activities.Activity, more?: Partial<Rendered>) => Rendered
      ) {
        const [id = 0n, itemId = 0n, ...others] = target.split(" ").map(BigInt)
        const uri = LocalIds.collection(config, accountId, id)
        const all = LocalIds.featuredCollections(config, accountId)
        const to = (activity: Activities.Activity) =>
          rendered(activity, { recipients: { ...followersOnly(accountId), accountIds: others } })
        if (leaves === "RemoveCollection") {
          return to(CollectionActivities.featureAccounts("Remove", actor, all, uri, number))
        }
        const item = LocalIds.collectionItem(config, accountId, itemId)
        if (leaves === "RemoveItem") return to(CollectionActivities.featureAccounts("Remove", actor, uri, item, number))
        const found = yield* Effect.option(
          leaves === "AddItem"
            ? collections.item(undefined, accountId, itemId)
            : Effect.map(collections.collection(undefined, id), ({ document }) => document)
        )
        if (found._tag === "None") return undefined
        return to(
          leaves === "UpdateCollection"
            ? CollectionActivities.updateCollection(actor, found.value, number)
            : CollectionActivities.featureAccounts("Add", actor, leaves === "AddItem" ? uri : all, found.value, number)
        )
      })

      /** Renders an account's own news, for its followers. */
      const ofAccount = Effect.fnUntraced(
        function*(accountId: bigint, statusId: bigint | null, outgoing: OutgoingActivity) {
          const [me] = yield* nameRows(sql`SELECT a.username, a.actor_path FROM accounts a
          WHERE a.id = ${accountId} AND a.domain IS NULL`)
          if (me === undefined) return undefined
          const actor = LocalIds.actor(config, me.actorPath)
          const rendered = (activity: Activities.Activity, more: Partial<Rendered> = {}): Rendered => ({
            item: { senderId: accountId, about: accountId, activity },
            recipients: followersOnly(accountId),
            statusId: null,
            carries: false,
            ...more
          })
          switch (outgoing.leaves) {
            case "Profile": {
              const document = yield* Effect.option(
                Effect.flatMap(actors.find(accountId), (found) => actors.document(found))
              )
              return document._tag === "None"
                ? undefined
                : rendered(Activities.updateActor(document.value, Number(outgoing.number)))
            }
            case "Move":
              return rendered(Activities.move(actor, outgoing.target ?? "", outgoing.number))
            case "Farewell":
              return rendered(Activities.deleteActor(actor), {
                item: { senderId: accountId, about: accountId, activity: Activities.deleteActor(actor), low: true },
                recipients: { ...followersOnly(accountId), reached: true }
              })
            case "FeatureTag":
            case "UnfeatureTag": {
              const type = outgoing.leaves === "FeatureTag" ? "Add" : "Remove"
              const object = hashtag(config, me.username, outgoing.target ?? "")
              return rendered(Activities.featureTag(type, actor, object, outgoing.number))
            }
            case "AddCollection":
            case "UpdateCollection":
            case "RemoveCollection":
            case "AddItem":
            case "RemoveItem":
              return yield* ofCollection(accountId, actor, outgoing, outgoing.leaves, rendered)
            case "RejectReply": {
              const object = outgoing.target ?? ""
              const ours = /^[0-9]+$/.test(object)
                ? (yield* objects.uris([BigInt(object)])).get(BigInt(object))
                : object
              const [author] = yield* accountIdRows(sql`SELECT id AS account_id FROM accounts
                WHERE id = (SELECT account_id FROM statuses WHERE uri = ${object})`)
              const thread = LocalIds.note(config, me.actorPath, statusId ?? 0n)
              return rendered(Activities.rejectReply(actor, ours ?? object, thread, outgoing.number), {
                recipients: { ...followersOnly(accountId), accountIds: author === undefined ? [] : [author.accountId] }
              })
            }
            default: {
              const type = outgoing.leaves === "Pin" ? "Add" : "Remove"
              const object = LocalIds.note(config, me.actorPath, statusId ?? 0n)
              return rendered(Activities.pin(type, actor, object, outgoing.number))
            }
          }
        }
      )

      const isLocalOnly = (statusId: bigint) =>
        Effect.map(sql`SELECT FROM statuses WHERE id = ${statusId} AND local_only`, ({ length }) => length > 0)

      const render = traced("OutgoingActivities.render")(
        function*(accountId: bigint, statusId: bigint | null, outgoing: OutgoingActivity) {
          const { leaves } = outgoing
          if (leaves === "Create" || leaves === "Update" || leaves === "Delete") {
            return statusId === null ? undefined : yield* ofPost(statusId, leaves)
          }
          // Pins and rejected replies refer to a post.
          if (statusId !== null && (yield* isLocalOnly(statusId))) return undefined
          return yield* ofAccount(accountId, statusId, outgoing)
        }
      )
      return OutgoingActivities.of({ render })
    })
  )
  static readonly layer = OutgoingActivities.layerNoDeps.pipe(
    Layer.provide([CollectionObjects.layer, LocalActors.layer, Objects.layer])
  )
}
