import { Layer } from "effect"
import { Forms } from "../html/Forms.ts"
import * as Stylesheet from "../html/Stylesheet.ts"
import { Visitors } from "../html/Visitors.ts"
import { AuthorizationRequests } from "../oauth/AuthorizationRequests.ts"
import { AuthorizationResponses } from "../oauth/AuthorizationResponses.ts"
import * as Authorize from "../oauth/Authorize.ts"
import * as AuthorizedApplications from "../oauth/AuthorizedApplications.ts"
import * as Confirmations from "./Confirmations.ts"
import * as EmailUnsubscribing from "./EmailUnsubscribing.ts"
import * as PasskeyForm from "./PasskeyForm.ts"
import * as PasskeySignIn from "./PasskeySignIn.ts"
import * as Passwords from "./Passwords.ts"
import * as ProviderSignIn from "./ProviderSignIn.ts"
import * as SecondStep from "./SecondStep.ts"
import * as SignIn from "./SignIn.ts"
import * as SignUpPage from "./SignUpPage.ts"
import * as StrikePages from "./StrikePages.ts"
import * as TwoFactor from "./TwoFactorPage.ts"

/**
 * Pages for signing in, authorizing apps and links in e-mails. They are raw routes, because no client calls them
 * through the API's description.
 */
export const layer = Layer.mergeAll(
  Authorize.layer,
  AuthorizedApplications.layer,
  Confirmations.layer,
  EmailUnsubscribing.layer,
  PasskeyForm.layer,
  PasskeySignIn.layer,
  Passwords.layer,
  ProviderSignIn.layer,
  SecondStep.layer,
  SignIn.layer,
  SignUpPage.layer,
  StrikePages.layer,
  Stylesheet.layer,
  TwoFactor.layer
).pipe(
  Layer.provide(Forms.layer),
  Layer.provide([AuthorizationResponses.layer, AuthorizationRequests.layer, Visitors.layer])
)
