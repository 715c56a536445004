import type { Array as Arr } from "effect"
import { Access } from "../../guard/Access.ts"
import { absent, type Route } from "./Route.ts"

/** Everything that later capabilities will answer. */
export const routes: Arr.NonEmptyReadonlyArray<Route> = [
  absent("POST", "/api/v1/accounts/:id/email_subscriptions", Access.anyoneUnlessRestricted)
]
