import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { ServerConfig } from "../../instance/ServerConfig.ts"
import { rowsOf } from "../../Rows.ts"
import type { Activity } from "../documents/Activities.ts"
import type { Document } from "../documents/Vocabulary.ts"
import * as LocalIds from "../LocalIds.ts"
import { type HostNames, Outbox } from "./Outbox.ts"

const usernameRows = rowsOf(Schema.Struct({ username: Schema.String }))

/** An account, with its id where it is of another server. */
interface Party {
  readonly username: string
  readonly uri: string | null
}

/** What another server asks consent for, or did without asking. */
export interface ConsentAsked {
  /** The id of the request, where there is one, and its type. */
  readonly request: string | undefined
  readonly type: string
  readonly requester: string
  /** The ids of what it is about, and of what is done with it. */
  readonly object: string
  readonly instrument: string
}

/** How accounts here answer who asks for consent, in activities of one context whose ids have this path. Made once. */
export const make = Effect.fnUntraced(function*(context: unknown, path: string) {
  const sql = yield* SqlClient.SqlClient
  const config = yield* ServerConfig
  const outbox = yield* Outbox

  const activity = (document: Document & { readonly id: string; readonly type: string }): Activity => ({
    type: document.type,
    uri: document.id,
    document: { "@context": context, ...document }
  })
  const actorOf = ({ uri, username }: Party) => uri ?? LocalIds.actor(config, username)

  const answered = Effect.fnUntraced(function*(
    type: "Accept" | "Reject",
    from: { readonly id: bigint; readonly actor: string },
    to: bigint,
    { instrument, object, request, requester, type: requestType }: ConsentAsked,
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
        // Who did not ask is told of what it did.
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
    answered,
    /** Refuses what was asked of a local account, where nothing is kept of it. */
    refuse: Effect.fnUntraced(function*(author: bigint, requesterId: bigint, asked: ConsentAsked) {
      const none: HostNames = []
      if (!outbox.enabled) return none
      const [me] = yield* usernameRows(sql`SELECT username FROM accounts WHERE id = ${author} AND domain IS NULL`)
      if (me === undefined) return none
      const from = { id: author, actor: LocalIds.actor(config, me.username) }
      return yield* answered("Reject", from, requesterId, asked)
    })
  }
})
