import { Context } from "effect"
import type { Permission } from "../../services/staff/Permissions.ts"
import type { LimitName } from "./Limits.ts"

/** Who may call a route, with which scopes (any one of them). What it costs beside the general limits. */
export interface AccessRule {
  readonly who: "anyone" | "public" | "app" | "app or user" | "user"
  readonly scopes: ReadonlyArray<string>
  /** The user's role has one of them; none are asked of people. */
  readonly permissions: ReadonlyArray<Permission>
  /** A user who has not confirmed the address or waits for approval may call it. */
  readonly unconfirmed: boolean
  /** Stays open to anonymous callers in restricted mode. */
  readonly open: boolean
  readonly limits: ReadonlyArray<LimitName>
}

const rule = (who: AccessRule["who"], scopes: ReadonlyArray<string>): AccessRule => ({
  who,
  scopes,
  permissions: [],
  unconfirmed: false,
  open: false,
  limits: []
})

/**
 * The annotation that every endpoint carries: `.annotate(Access, Access.user("read", "read:statuses"))`. An endpoint
 * without it is refused when the server starts.
 */
export class Access extends Context.Service<Access, AccessRule>()("murmuration/http/guard/Access") {
  /** Needs no token and ignores one: instance information, sign-in. Open in restricted mode, too. */
  static readonly anyone: AccessRule = { ...rule("anyone", []), open: true }
  /** The same, except that restricted mode asks for a user. */
  static readonly anyoneUnlessRestricted: AccessRule = rule("anyone", [])
  /** Anybody, seen as the token's user where there is one, who then needs one of the scopes. */
  static readonly public = (...scopes: ReadonlyArray<string>) => rule("public", scopes)
  static readonly app = (...scopes: ReadonlyArray<string>) => rule("app", scopes)
  static readonly appOrUser = (...scopes: ReadonlyArray<string>) => rule("app or user", scopes)
  static readonly user = (...scopes: ReadonlyArray<string>) => rule("user", scopes)
  /** A user whose role has the permission, or one of several; whom they may act on is decided with the act. */
  static readonly staff = (
    permission: Permission | ReadonlyArray<Permission>,
    ...scopes: ReadonlyArray<string>
  ): AccessRule => ({
    ...rule("user", scopes),
    permissions: typeof permission === "string" ? [permission] : permission
  })
  static readonly unconfirmed = (self: AccessRule): AccessRule => ({ ...self, unconfirmed: true })
  static readonly open = (self: AccessRule): AccessRule => ({ ...self, open: true })
  static readonly limited = (self: AccessRule, ...limits: ReadonlyArray<LimitName>): AccessRule => ({ ...self, limits })
}
