import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { idRows, rowsOf } from "../../database/Rows.ts"
import { isNamed, type LocalName } from "../../instance/LocalNames.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { traced } from "../../runtime/Traced.ts"
import { noteContext } from "../documents/NoteDocument.ts"
import { type Document, publicCollection } from "../documents/Vocabulary.ts"
import * as LocalIds from "../LocalIds.ts"
import { Objects } from "../Objects.ts"
import * as GivenConsents from "./GivenConsents.ts"
import type { ConsentRequest } from "./GivenConsents.ts"
import { type HostNames, Outbox } from "./Outbox.ts"
import { recordReach } from "./Reaches.ts"

type Sent = Effect.Effect<HostNames, SqlError>

const Party = { username: Schema.String, actorPath: LocalIds.ActorPath, uri: Schema.NullOr(Schema.String) }
const QuoteParties = Schema.Struct({
  /** Quoting account, and the id of its post. */
  account: Schema.Struct({ ...Party, id: Schema.String, post: Schema.NullOr(Schema.String) }),
  /** Quoted account, and its post. */
  quoted: Schema.Struct({ ...Party, id: Schema.String, post: Schema.NullOr(Schema.String), postId: Schema.String }),
  requestUri: Schema.NullOr(Schema.String),
  authorizationUri: Schema.NullOr(Schema.String),
  state: Schema.String
})
const partyRows = rowsOf(QuoteParties)
const requestType = "QuoteRequest"

/** Request of another server. */
interface Request extends Omit<ConsentRequest, "request" | "type"> {
  readonly id: string
}

/** Consent to quotes: requested from other servers, and given or revoked by local accounts (FEP-044f). */
export class QuoteActivities extends Context.Service<QuoteActivities, {
  /** Requests consent to a quote that was just written here. */
  readonly request: (statusId: bigint) => Sent
  /** Sends a remote post consent or a refusal. */
  readonly respond: (type: "Accept" | "Reject", statusId: bigint) => Sent
  /** Refuses a request that is not stored. */
  readonly refuse: (quotedAuthor: bigint, requesterId: bigint, request: Request) => Sent
  /** Revokes the consent to a remote post. */
  readonly withdraw: (statusId: bigint) => Sent
  /**
   * Returns a local account's consent as a document; undefined if it does not exist. Its number is the quoting post's id,
   * or one of another server that the account came from.
   */
  readonly stamp: (quoted: LocalName, number: bigint) => Effect.Effect<Document | undefined>
}>()("murmuration/services/federation/outbox/QuoteActivities") {
  static readonly layerNoDeps = Layer.effect(
    QuoteActivities,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const objects = yield* Objects
      const outbox = yield* Outbox
      const none: HostNames = []

      const { activity, actorOf, response, refuse } = yield* GivenConsents.make(noteContext, "quote_requests")

      const find = Effect.fnUntraced(function*(statusId: bigint) {
        const [row] = yield* partyRows(sql`
          SELECT json_build_object('id', a.id::text, 'username', a.username, 'actorPath', a.actor_path, 'uri', a.uri, 'post', s.uri) AS account,
            json_build_object('id', b.id::text, 'username', b.username, 'actorPath', b.actor_path, 'uri', b.uri, 'post', t.uri, 'postId', t.id::text) AS quoted,
            q.request_uri, q.authorization_uri, q.state
          FROM quotes q JOIN statuses s ON s.id = q.status_id JOIN accounts a ON a.id = s.account_id
          JOIN statuses t ON t.id = q.quoted_status_id JOIN accounts b ON b.id = t.account_id
          WHERE q.status_id = ${statusId} AND s.deleted_at IS NULL AND t.deleted_at IS NULL`)
        return row && {
          ...row,
          object: row.quoted.post ?? LocalIds.note(config, row.quoted.actorPath, BigInt(row.quoted.postId)),
          instrument: row.account.post ?? LocalIds.note(config, row.account.actorPath, statusId)
        }
      })
      type Found = NonNullable<Effect.Success<ReturnType<typeof find>>>

      const stampOf = ({ authorizationUri, instrument, object, quoted }: Found, statusId: bigint) => ({
        // A consent that was given before the account came here keeps its id.
        id: authorizationUri ?? LocalIds.quoteAuthorization(actorOf(quoted), statusId),
        type: "QuoteAuthorization",
        attributedTo: actorOf(quoted),
        interactingObject: instrument,
        interactionTarget: object
      })

      const request = traced("QuoteActivities.request")(function*(statusId: bigint) {
        const found = outbox.enabled ? yield* find(statusId) : undefined
        if (found === undefined || found.account.uri !== null || found.quoted.uri === null) return none
        const { account, object, quoted } = found
        const note = (yield* objects.load([statusId])).get(statusId)?.note
        // A local-only post needs no consent.
        if (note === undefined) return none
        const actor = actorOf(account)
        const hosts = yield* outbox.toAccounts({
          senderId: BigInt(account.id),
          about: statusId,
          activity: activity({
            id: `${actor}#quote_requests/${statusId}`,
            type: requestType,
            actor,
            to: [quoted.uri],
            object,
            instrument: note
          })
        }, [BigInt(quoted.id)])
        // The request contains the post, so the server must learn of its deletion.
        yield* recordReach(sql, sql`SELECT ${statusId}::bigint AS id`, BigInt(quoted.id))
        return hosts
      })

      const respond = traced("QuoteActivities.respond")(function*(type: "Accept" | "Reject", statusId: bigint) {
        const found = outbox.enabled ? yield* find(statusId) : undefined
        if (
          found === undefined || found.account.uri === null || found.quoted.uri !== null || found.requestUri === null
        ) return none
        const { account, instrument, object, quoted, requestUri } = found
        return yield* response(
          type,
          { id: BigInt(quoted.id), actor: actorOf(quoted) },
          BigInt(account.id),
          { type: requestType, request: requestUri, requester: actorOf(account), object, instrument },
          type === "Accept" ? stampOf(found, statusId).id : undefined
        )
      })

      const withdraw = traced("QuoteActivities.withdraw")(function*(statusId: bigint) {
        const found = outbox.enabled ? yield* find(statusId) : undefined
        if (found === undefined || found.account.uri === null || found.quoted.uri !== null) return none
        const object = stampOf(found, statusId)
        return yield* outbox.toAccounts({
          senderId: BigInt(found.quoted.id),
          about: statusId,
          activity: activity({
            id: `${object.id}#delete`,
            type: "Delete",
            actor: object.attributedTo,
            to: [publicCollection, actorOf(found.account)],
            object
          })
        }, [BigInt(found.account.id)])
      })

      /** Returns the post of a consent whose id does not name it. Other servers may claim any id for their consents. */
      const quotingPost = Effect.fnUntraced(function*(quoted: LocalName, number: bigint) {
        const uri = LocalIds.quoteAuthorization(LocalIds.namedActor(config, quoted), number)
        const [row] = yield* idRows(sql`SELECT q.status_id AS id FROM quotes q
          JOIN accounts a ON a.id = q.quoted_account_id AND a.domain IS NULL WHERE q.authorization_uri = ${uri}`)
        return row?.id
      })

      const stamp = traced("QuoteActivities.stamp")(function*(quoted: LocalName, number: bigint) {
        const statusId = (yield* quotingPost(quoted, number)) ?? number
        const found = yield* find(statusId)
        if (found?.account.uri === null && !(yield* objects.load([statusId])).has(statusId)) return undefined
        return found?.state === "accepted" && found.quoted.uri === null && isNamed(quoted, found.quoted)
          ? { "@context": noteContext, ...stampOf(found, statusId) }
          : undefined
      }, Effect.orDie)

      return QuoteActivities.of({
        request,
        respond,
        refuse: traced("QuoteActivities.refuse")((quotedAuthor, requesterId, { id, ...asked }) =>
          refuse(quotedAuthor, requesterId, { ...asked, type: requestType, request: id })
        ),
        withdraw,
        stamp
      })
    })
  )
  static readonly layer = QuoteActivities.layerNoDeps.pipe(Layer.provide([Objects.layer, Outbox.layer]))
}
