import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../../database/Rows.ts"
import { isNamed, type LocalName } from "../../instance/LocalNames.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import { RequestKind } from "../../statuses/InteractionRequest.ts"
import { type Activity, undo } from "../documents/Activities.ts"
import { interactionContext, requestType, stampDocument, stamped } from "../documents/InteractionDocument.ts"
import { type Document, publicCollection } from "../documents/Vocabulary.ts"
import * as LocalIds from "../LocalIds.ts"
import { Objects } from "../Objects.ts"
import * as GivenConsents from "./GivenConsents.ts"
import type { ConsentRequest } from "./GivenConsents.ts"
import { type HostNames, Outbox } from "./Outbox.ts"
import { recordReach } from "./Reaches.ts"

type Sent = Effect.Effect<HostNames, SqlError>

const Party = Schema.Struct({
  id: Schema.String,
  username: Schema.String,
  actorPath: LocalIds.ActorPath,
  uri: Schema.NullOr(Schema.String)
})
const Parties = Schema.Struct({
  kind: RequestKind,
  /** The requesting account, and the author of the status. */
  account: Party,
  author: Party,
  statusId: Schema.BigInt,
  statusUri: Schema.NullOr(Schema.String),
  interactionId: Schema.NullOr(Schema.BigInt),
  /** Id of a remote interaction. */
  uri: Schema.NullOr(Schema.String),
  requestUri: Schema.NullOr(Schema.String),
  state: Schema.String
})
const partyRows = rowsOf(Parties)

/** Interaction that another server requests consent for, or made without requesting. */
export interface Asking extends Omit<ConsentRequest, "type"> {
  readonly kind: RequestKind
}

/** Consent to replies, favourites and reblogs: requested from other servers, and given or refused by local accounts. */
export class InteractionActivities extends Context.Service<InteractionActivities, {
  /** Requests consent; `instrument` is the future reply or Announce, absent for a Like. */
  readonly request: (requestId: bigint, instrument?: Document) => Sent
  /** Sends consent or a refusal to a remote account. */
  readonly respond: (type: "Accept" | "Reject", requestId: bigint) => Sent
  /** Refuses a remote request that is not stored. */
  readonly refuse: (author: bigint, requesterId: bigint, asking: Asking) => Sent
  /** Sends a favourite with the consent of its author's server. */
  readonly like: (requestId: bigint, stamp: string) => Sent
  /** Sends the Undo of a favourite with a consent request; call before the request is deleted. */
  readonly undoLike: (requestId: bigint) => Sent
  /** Withdraws the request for a reply or reblog; call before the request is deleted. */
  readonly undoRequest: (requestId: bigint) => Sent
  /** Returns the id of a status; undefined if it does not exist. */
  readonly uriOf: (statusId: bigint) => Effect.Effect<string | undefined>
  /** Returns a local account's consent as a document; undefined if it does not exist. */
  readonly stamp: (giver: LocalName, requestId: bigint) => Effect.Effect<Document | undefined>
}>()("murmuration/services/federation/outbox/InteractionActivities") {
  static readonly layerNoDeps = Layer.effect(
    InteractionActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const objects = yield* Objects
      const outbox = yield* Outbox
      const none: HostNames = []

      const { activity, actorOf, response, refuse } = yield* GivenConsents.make(interactionContext, "interactions")

      const find = Effect.fnUntraced(function*(requestId: bigint) {
        const [row] = yield* partyRows(sql`
          SELECT r.kind, json_build_object('id', a.id::text, 'username', a.username, 'actorPath', a.actor_path, 'uri', a.uri) AS account,
            json_build_object('id', b.id::text, 'username', b.username, 'actorPath', b.actor_path, 'uri', b.uri) AS author,
            s.id AS status_id, s.uri AS status_uri, i.id AS interaction_id, coalesce(r.uri, i.uri) AS uri, r.request_uri, r.state
          FROM interaction_requests r JOIN accounts a ON a.id = r.account_id JOIN accounts b ON b.id = r.target_account_id
          JOIN statuses s ON s.id = r.status_id LEFT JOIN statuses i ON i.id = r.interaction_id
          WHERE r.id = ${requestId} AND s.deleted_at IS NULL`)
        if (row === undefined) return undefined
        const actor = actorOf(row.account)
        const own = row.interactionId === null
          ? undefined
          : LocalIds.note(config, row.account.actorPath, row.interactionId)
        const ours = row.kind === "favourite"
          ? `${actor}#likes/${requestId}`
          : row.kind === "reblog" && own !== undefined
          ? LocalIds.activity(own)
          : own
        return {
          ...row,
          actor,
          target: row.statusUri ?? LocalIds.note(config, row.author.actorPath, row.statusId),
          instrument: row.uri ?? ours ?? ""
        }
      })

      const likeOf = (
        { actor, author, instrument, target }: Pick<
          NonNullable<Effect.Success<ReturnType<typeof find>>>,
          "actor" | "author" | "instrument" | "target"
        >
      ) => ({ id: instrument, type: "Like", actor, object: target, to: [actorOf(author)] })

      const requestOf = (
        requestId: bigint,
        { actor, author, kind, target }: NonNullable<Effect.Success<ReturnType<typeof find>>>,
        instrument: unknown
      ) =>
        activity({
          id: LocalIds.interactionRequest(actor, requestId),
          type: requestType(kind),
          actor,
          to: [actorOf(author)],
          object: target,
          instrument
        })

      const request = traced("InteractionActivities.request")(function*(requestId: bigint, instrument?: Document) {
        const found = outbox.enabled ? yield* find(requestId) : undefined
        if (found === undefined || found.account.uri !== null || found.author.uri === null) return none
        const { author, interactionId } = found
        const hosts = yield* outbox.toAccounts({
          senderId: BigInt(found.account.id),
          about: interactionId ?? requestId,
          activity: requestOf(requestId, found, instrument ?? likeOf(found))
        }, [BigInt(author.id)])
        // The request contains the post, so the server must learn of its deletion.
        if (interactionId !== null) {
          yield* recordReach(sql, sql`SELECT ${interactionId}::bigint AS id`, BigInt(author.id))
        }
        return hosts
      })

      const respond = traced("InteractionActivities.respond")(function*(type: "Accept" | "Reject", requestId: bigint) {
        const found = outbox.enabled ? yield* find(requestId) : undefined
        if (found === undefined || found.account.uri === null || found.author.uri !== null) return none
        const { account, actor, author, instrument, kind, requestUri, target } = found
        const me = actorOf(author)
        return yield* response(
          type,
          { id: BigInt(author.id), actor: me },
          BigInt(account.id),
          { type: requestType(kind), request: requestUri ?? undefined, requester: actor, object: target, instrument },
          type === "Accept" ? LocalIds.interactionAuthorization(me, requestId) : undefined
        )
      })

      const favourite = Effect.fnUntraced(
        function*(
          requestId: bigint,
          wrap: (like: Document & { readonly id: string; readonly type: string }) => Activity
        ) {
          const found = outbox.enabled ? yield* find(requestId) : undefined
          if (found === undefined || found.account.uri !== null || found.author.uri === null) return none
          return yield* outbox.toAccounts({
            senderId: BigInt(found.account.id),
            about: requestId,
            activity: wrap(likeOf(found))
          }, [BigInt(found.author.id)])
        }
      )
      const like = traced("InteractionActivities.like")((requestId: bigint, stamp: string) =>
        favourite(requestId, (document) => activity({ ...document, ...stamped("favourite", stamp) }))
      )
      const undoRequest = traced("InteractionActivities.undoRequest")(function*(requestId: bigint) {
        const found = outbox.enabled ? yield* find(requestId) : undefined
        if (found === undefined || found.account.uri !== null || found.author.uri === null) return none
        return yield* outbox.toAccounts({
          senderId: BigInt(found.account.id),
          about: found.interactionId ?? requestId,
          activity: undo(requestOf(requestId, found, found.instrument))
        }, [BigInt(found.author.id)])
      })
      const undoLike = traced("InteractionActivities.undoLike")((requestId: bigint) =>
        favourite(requestId, (document) => undo(activity(document)))
      )

      const stamp = traced("InteractionActivities.stamp")(function*(giver: LocalName, requestId: bigint) {
        const found = yield* find(requestId)
        if (found === undefined || found.state !== "accepted" || found.author.uri !== null) return undefined
        const { author, instrument: object, kind, target } = found
        if (!isNamed(giver, author)) return undefined
        const me = actorOf(author)
        const id = LocalIds.interactionAuthorization(me, requestId)
        return {
          "@context": interactionContext,
          ...stampDocument({ kind, id, author: me, object, target }),
          to: [publicCollection]
        }
      }, Effect.orDie)

      const uriOf = traced("InteractionActivities.uriOf")((statusId: bigint) =>
        Effect.map(objects.uris([statusId]), (uris) => uris.get(statusId))
      )

      return InteractionActivities.of({
        request,
        respond,
        refuse: traced("InteractionActivities.refuse")((author, requesterId, { kind, ...asking }) =>
          refuse(author, requesterId, { ...asking, type: requestType(kind) })
        ),
        like,
        undoLike,
        undoRequest,
        uriOf,
        stamp
      })
    })
  )
  static readonly layer = InteractionActivities.layerNoDeps.pipe(Layer.provide([Objects.layer, Outbox.layer]))
}

/** Returns the local request with this id; undefined for other ids. */
export const requestedBy = (base: string, id: string): bigint | undefined => {
  const [, digits] = id.startsWith(`${base}/`) ? /#interaction_requests\/([0-9]{1,18})$/.exec(id) ?? [] : []
  return digits === undefined ? undefined : BigInt(digits)
}
