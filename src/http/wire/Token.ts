import { Schema } from "effect"

/** A new access token, the only time that it is shown; `created_at` is in seconds since 1970. */
export const Token = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.Literal("Bearer"),
  scope: Schema.String,
  created_at: Schema.Int
}).annotate({ identifier: "Token" })
export type Token = typeof Token.Type
