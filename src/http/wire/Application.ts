import { Schema } from "effect"
import { Id, Url } from "./Common.ts"
import { list, Text } from "./Params.ts"

/** A client of the API, as shown to its own token. `vapid_key` moved to the instance in 4.3. */
export const Application = Schema.Struct({
  id: Id,
  name: Schema.String,
  website: Schema.NullOr(Url),
  scopes: Schema.Array(Schema.String),
  redirect_uris: Schema.Array(Schema.String),
  redirect_uri: Schema.String,
  vapid_key: Schema.String
}).annotate({ identifier: "Application" })
export type Application = typeof Application.Type

/** A client right after its registration, the only time that its secret is shown. */
export const CredentialApplication = Schema.Struct({
  ...Application.fields,
  client_id: Schema.String,
  client_secret: Schema.String,
  client_secret_expires_at: Schema.Literal(0)
}).annotate({ identifier: "CredentialApplication" })
export type CredentialApplication = typeof CredentialApplication.Type

/** `POST /api/v1/apps`; several redirect URIs come as a list, or as one text separated by lines or spaces. */
export const NewApplication = Schema.Struct({
  clientName: Schema.optionalKey(Schema.NullOr(Text)),
  redirectUris: Schema.optionalKey(list(Text)),
  scopes: Schema.optionalKey(Schema.NullOr(Text)),
  website: Schema.optionalKey(Schema.NullOr(Text))
}).pipe(Schema.encodeKeys({ clientName: "client_name", redirectUris: "redirect_uris" }))
