import { Context, Option } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import type { Permission } from "../../services/staff/Permissions.ts"
import type { LimitName } from "./Limits.ts"

/** Access rule of a route: its callers, its scopes (any one of them), and its limits besides the general ones. */
export interface AccessRule {
  readonly callerKind: "anyone" | "public" | "app" | "app or user" | "user"
  readonly scopes: ReadonlyArray<string>
  /** Permissions of which the user's role needs one; empty for routes of ordinary users. */
  readonly permissions: ReadonlyArray<Permission>
  /** True if users with an unconfirmed address or a pending sign-up may call the endpoint. */
  readonly unconfirmed: boolean
  /** True if users whose account has moved may call the endpoint. */
  readonly moved: boolean
  /** True if the endpoint stays open to anonymous callers in restricted mode. */
  readonly open: boolean
  readonly limits: ReadonlyArray<LimitName>
}

const rule = (who: AccessRule["callerKind"], scopes: ReadonlyArray<string>): AccessRule => ({
  callerKind: who,
  scopes,
  permissions: [],
  unconfirmed: false,
  moved: false,
  open: false,
  limits: []
})

/**
 * Annotation of every endpoint: `.annotate(Access, Access.user("read", "read:statuses"))`. The server refuses to start
 * with an endpoint that lacks it.
 */
export class Access extends Context.Service<Access, AccessRule>()("murmuration/http/guard/Access") {
  /** Rule of an endpoint. Throws for one without a rule, and names it. */
  static readonly ruleOf = ({ annotations, method, path }: HttpApiEndpoint.Top): AccessRule =>
    Option.getOrThrowWith(
      Context.getOption(annotations, Access),
      () => new Error(`${method} ${path} lacks .annotate(Access, ...)`)
    )
  /** Ignores any token: instance information, sign-in. Open in restricted mode, too. */
  static readonly anyone: AccessRule = { ...rule("anyone", []), open: true }
  /** Like `anyone`, but restricted mode requires a user. */
  static readonly anyoneUnlessRestricted: AccessRule = rule("anyone", [])
  /** Open to anyone; a token's user needs one of the scopes. */
  static readonly public = (...scopes: ReadonlyArray<string>) => rule("public", scopes)
  static readonly app = (...scopes: ReadonlyArray<string>) => rule("app", scopes)
  static readonly appOrUser = (...scopes: ReadonlyArray<string>) => rule("app or user", scopes)
  static readonly user = (...scopes: ReadonlyArray<string>) => rule("user", scopes)
  /** A user whose role has the permission, or one of several. The action itself decides on whom they may act. */
  static readonly staff = (
    permission: Permission | ReadonlyArray<Permission>,
    ...scopes: ReadonlyArray<string>
  ): AccessRule => ({
    ...rule("user", scopes),
    permissions: typeof permission === "string" ? [permission] : permission
  })
  static readonly unconfirmed = (self: AccessRule): AccessRule => ({ ...self, unconfirmed: true })
  static readonly moved = (self: AccessRule): AccessRule => ({ ...self, moved: true })
  static readonly open = (self: AccessRule): AccessRule => ({ ...self, open: true })
  static readonly limited = (self: AccessRule, ...limits: ReadonlyArray<LimitName>): AccessRule => ({ ...self, limits })
}
