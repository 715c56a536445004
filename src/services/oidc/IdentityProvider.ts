import { Context, type Effect, Schema } from "effect"
import type { ProviderIdentity } from "./ProviderIdentity.ts"

/** The provider does not respond, or its documents are unusable; a later try may succeed. */
export class ProviderFailed extends Schema.TaggedError<ProviderFailed>()("ProviderFailed", {
  /** Details for the log. */
  why: Schema.String
}) {
  override get message() {
    return "The identity provider does not respond at the moment. Please try again later."
  }
}

/** The provider's response does not prove an identity. */
export class ProviderRefused extends Schema.TaggedError<ProviderRefused>()("ProviderRefused", {
  reason: Schema.Literals(["response", "late", "group", "unknown", "unconfirmed", "linked"])
}) {
  override get message() {
    switch (this.reason) {
      case "response":
        return "The identity provider did not confirm who you are. Please try again."
      case "late":
        return "That took too long, or was done in another browser. Please sign in again."
      case "group":
        return "Your account at the identity provider may not sign in to this server."
      case "unknown":
        return "You have no account on this server. Ask its administrators for one."
      case "unconfirmed":
        // The sign-up may be another person's: after a confirmation that person's password would work.
        return "There is an unconfirmed sign-up with your email address. If it is yours, open the link in the email we sent you. If not, ignore that email: the sign-up will be removed."
      case "linked":
        return "The account with your email address belongs to another identity. Ask the administrators of this server."
    }
  }
}

/** Secrets of one sign-in: the state in the URL, the nonce of the ID token, and the verifier of the code (PKCE). */
export interface Attempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Port of an OpenID Connect provider; `layers` supply it. */
export interface ProviderClient {
  /** Returns the URL at which the person signs in. */
  readonly authorizationUrl: (attempt: Attempt) => Effect.Effect<string, ProviderFailed>
  /** Redeems the code in the parameters of the callback, and returns the identity that the provider proves. */
  readonly identify: (
    parameters: URLSearchParams,
    attempt: Attempt
  ) => Effect.Effect<ProviderIdentity, ProviderFailed | ProviderRefused>
}

/** The configured identity provider; undefined without one. */
export class IdentityProvider
  extends Context.Service<IdentityProvider, ProviderClient | undefined>()("murmuration/services/oidc/IdentityProvider")
{}
