import { Layer } from "effect"
import * as Confirmations from "../pages/Confirmations.ts"
import { Forms } from "../pages/Forms.ts"
import * as Passwords from "../pages/Passwords.ts"
import * as SignIn from "../pages/SignIn.ts"
import * as Stylesheet from "../pages/Stylesheet.ts"
import { Visitors } from "../pages/Visitors.ts"
import { Answers } from "./Answers.ts"
import { AuthorizationRequests } from "./AuthorizationRequests.ts"
import * as Authorize from "./Authorize.ts"
import * as AuthorizedApplications from "./AuthorizedApplications.ts"

/** Every page about signing in and allowing apps; raw routes, as no client calls them by the API's description. */
export const layer = Layer.mergeAll(
  Authorize.layer,
  AuthorizedApplications.layer,
  Confirmations.layer,
  Passwords.layer,
  SignIn.layer,
  Stylesheet.layer
).pipe(
  Layer.provide(Forms.layer),
  Layer.provide([Answers.layer, AuthorizationRequests.layer, Visitors.layer])
)
