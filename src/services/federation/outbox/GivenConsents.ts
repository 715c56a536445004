import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../database/Rows.ts"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import type { Activity } from "../documents/Activities.ts"
import type { Document } from "../documents/Vocabulary.ts"
import * as LocalIds from "../LocalIds.ts"
import { type HostNames, Outbox } from "./Outbox.ts"

const pathRows = rowsOf(Schema.Struct({ actorPath: LocalIds.ActorPath }))

/** An account; `uri` is set if it is remote. */
interface Party {
  readonly actorPath: LocalIds.ActorPath
  readonly uri: string | null
}

/** Consent that another server requests, or did without requesting. */
export interface ConsentRequest {
  /** Id of the request, if there is one, and its type. */
  readonly request: string | undefined
  readonly type: string
  readonly requester: string
  /** Ids of the object, and of the interaction with it. */
  readonly object: string
  readonly instrument: string
}

/**
 * Creates the replies of local accounts to consent requests; `context` is their JSON-LD context, and `path` a part of
 * their ids. Call once.
 */
export const make = Effect.fnUntraced(function*(context: unknown, path: string) {
  const sql = yield* SqlClient.SqlClient
  const config = yield* ServerConfig
  const outbox = yield* Outbox

  const activity = (document: Document & { readonly id: string; readonly type: string }): Activity => ({
    type: document.type,
    uri: document.id,
    document: { "@context": context, ...document }
  })
  const actorOf = ({ actorPath, uri }: Party) => uri ?? LocalIds.actor(config, actorPath)

  const response = Effect.fnUntraced(function*(
    type: "Accept" | "Reject",
    from: { readonly id: bigint; readonly actor: string },
    to: bigint,
    { instrument, object, request, requester, type: requestType }: ConsentRequest,
    result?: string
  ) {
    const number = yield* Clock.currentTimeMillis
    return yield* outbox.toAccounts({
      senderId: from.id,
      about: to,
      activity: activity({
        id: `${from.actor}#${type === "Accept" ? "accepts" : "rejects"}/${path}/${to}-${number}`,
        type,
        actor: from.actor,
        to: [requester],
        // A sender that did not request consent gets the id of its interaction.
        object: request === undefined
          ? instrument
          : { id: request, type: requestType, actor: requester, object, instrument },
        target: object,
        ...(result === undefined ? {} : { result })
      })
    }, [to])
  })

  return {
    activity,
    actorOf,
    response,
    /** Refuses a request to a local account that is not stored. */
    refuse: Effect.fnUntraced(function*(author: bigint, requesterId: bigint, asked: ConsentRequest) {
      const none: HostNames = []
      if (!outbox.enabled) return none
      const [me] = yield* pathRows(sql`SELECT a.actor_path FROM accounts a WHERE a.id = ${author} AND a.domain IS NULL`)
      if (me === undefined) return none
      const from = { id: author, actor: LocalIds.actor(config, me.actorPath) }
      return yield* response("Reject", from, requesterId, asked)
    })
  }
})
