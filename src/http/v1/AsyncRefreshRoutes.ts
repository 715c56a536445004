import { Effect, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { RefreshClaims, type RefreshKind } from "../../services/federation/fetching/RefreshClaims.ts"
import { RecordNotFound } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { type AsyncRefresh, AsyncRefreshState } from "../wire/AsyncRefresh.ts"
import { json, withMembers } from "../wire/Keys.ts"

/** Delay before a client should poll again, in seconds. */
const retrySeconds = 3

/** Returns the header that announces a running fetch. Its id is opaque to clients. */
export const asyncRefresh = (kind: RefreshKind, subjectId: bigint, found: number) => ({
  "mastodon-async-refresh": `id="${
    Base64Url.encode(`${kind}:${subjectId}`)
  }", retry=${retrySeconds}, result_count=${found}`
})

/** State of background work that a response announced (operations.md section 0). */
export class AsyncRefreshesGroup extends HttpApiGroup.make("asyncRefreshes")
  .add(
    HttpApiEndpoint.get("show", "/api/v1_alpha/async_refreshes/:id", {
      params: { id: Schema.String },
      success: AsyncRefreshState
    }).annotate(Access, Access.user("read"))
  )
  .middleware(Guard)
{}

const named = /^(thread|profile|report):([0-9]{1,18})$/

export const layer = group(
  AsyncRefreshesGroup,
  Effect.fn(function*(handlers) {
    const claims = yield* RefreshClaims
    return handlers.handleAll({
      show: traced("asyncRefreshes.show")(function*({ params: { id } }) {
        const [, kind, subject = ""] = named.exec(Result.getOrElse(Base64Url.decodeString(id), () => "")) ?? []
        const state = kind === "thread" || kind === "profile" || kind === "report"
          ? yield* claims.find(kind, BigInt(subject))
          : undefined
        if (state === undefined) return yield* new RecordNotFound({ text: "Not Found" })
        const status = state.running ? "running" : "finished"
        return Reply.json(withMembers<AsyncRefreshState, "asyncRefresh">({}, {
          asyncRefresh: json<AsyncRefresh>({ id, status, resultCount: state.found })
        }))
      })
    })
  })
)
