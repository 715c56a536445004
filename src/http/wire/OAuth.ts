import { Schema } from "effect"
import { IdNumber } from "./Common.ts"
import { Url } from "./Common.ts"
import { Text } from "./Params.ts"

const OptionalText = Schema.optionalKey(Schema.NullOr(Text))
const client = { clientId: OptionalText, clientSecret: OptionalText }
const clientKeys = { clientId: "client_id", clientSecret: "client_secret" } as const

/** `POST /oauth/token` */
export const TokenRequest = Schema.Struct({
  ...client,
  grantType: OptionalText,
  code: OptionalText,
  redirectUri: OptionalText,
  codeVerifier: OptionalText,
  scope: OptionalText
}).pipe(
  Schema.encodeKeys({
    ...clientKeys,
    grantType: "grant_type",
    redirectUri: "redirect_uri",
    codeVerifier: "code_verifier"
  })
)
export type TokenRequest = typeof TokenRequest.Type

/** `POST /oauth/revoke` and `POST /oauth/introspect` */
export const TokenLookup = Schema.Struct({ ...client, token: OptionalText }).pipe(Schema.encodeKeys(clientKeys))

/** OAuth error (RFC 6749, section 5.2). */
export const OAuthError = Schema.Struct({ error: Schema.String, error_description: Schema.String })
  .annotate({ identifier: "OAuthError" })
export type OAuthError = typeof OAuthError.Type

/** Token introspection (RFC 7662). Times are in seconds since 1970. */
export const Introspection = Schema.Struct({
  active: Schema.Boolean,
  scope: Schema.optionalKey(Schema.String),
  client_id: Schema.optionalKey(Schema.String),
  token_type: Schema.optionalKey(Schema.Literal("Bearer")),
  iat: Schema.optionalKey(Schema.Int)
}).annotate({ identifier: "Introspection" })
export type Introspection = typeof Introspection.Type

/** The presented token. `resource_owner_id` is a number beyond JavaScript's exact integers. */
export const TokenInfo = Schema.Struct({
  resource_owner_id: Schema.NullOr(IdNumber),
  scope: Schema.Array(Schema.String),
  expires_in: Schema.Null,
  application: Schema.Struct({ uid: Schema.String }),
  created_at: Schema.Int
}).annotate({ identifier: "TokenInfo" })
export type TokenInfo = typeof TokenInfo.Type

/** Claims about the user. */
export const UserInfo = Schema.Struct({
  iss: Url,
  sub: Url,
  name: Schema.String,
  preferred_username: Schema.String,
  profile: Url,
  picture: Url
}).annotate({ identifier: "UserInfo" })
export type UserInfo = typeof UserInfo.Type

/** Metadata of the authorization server (RFC 8414). */
export const ServerMetadata = Schema.Struct({
  issuer: Url,
  authorization_endpoint: Url,
  token_endpoint: Url,
  revocation_endpoint: Url,
  introspection_endpoint: Url,
  userinfo_endpoint: Url,
  app_registration_endpoint: Url,
  /** Authorization endpoint for servers that copy an account (LOLA 0.2). */
  activitypub_account_portability: Url,
  service_documentation: Url,
  scopes_supported: Schema.Array(Schema.String),
  response_types_supported: Schema.Array(Schema.String),
  response_modes_supported: Schema.Array(Schema.String),
  grant_types_supported: Schema.Array(Schema.String),
  token_endpoint_auth_methods_supported: Schema.Array(Schema.String),
  code_challenge_methods_supported: Schema.Array(Schema.String)
}).annotate({ identifier: "OAuthServerMetadata" })
export type ServerMetadata = typeof ServerMetadata.Type
