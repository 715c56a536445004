import { Context, Effect } from "effect"
import type { AccountId, AppId, TokenId } from "../../services/database/Ids.ts"
import { Unauthorized } from "../../services/runtime/Errors.ts"
import type { Viewer } from "../../services/visibility/Viewer.ts"

/** Caller of a request, as the guard identified it; `address` is the client's IP address, IPv6 as its /64. */
export class Caller extends Context.Service<Caller, {
  readonly viewer: Viewer
  readonly tokenId: TokenId | undefined
  readonly appId: AppId | undefined
  readonly scopes: ReadonlySet<string>
  /** Language tag of the user. */
  readonly locale: string | undefined
  readonly address: string
}>()("murmuration/http/guard/Caller") {
  /** The caller's account, on a route with `Access.user`. */
  static readonly account: Effect.Effect<AccountId, Unauthorized, Caller> = Effect.flatMap(
    Caller,
    ({ viewer }) => viewer === undefined ? new Unauthorized({ reason: "invalid" }) : Effect.succeed(viewer)
  )
  static readonly viewer: Effect.Effect<Viewer, never, Caller> = Effect.map(Caller, ({ viewer }) => viewer)
}
