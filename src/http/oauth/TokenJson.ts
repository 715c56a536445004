import { Redacted } from "effect"
import * as Scopes from "../../services/oauth/Scopes.ts"
import type { IssuedToken } from "../../services/oauth/Tokens.ts"
import { json } from "../wire/Keys.ts"
import type { Token } from "../wire/Token.ts"

/** Renders a new token for its bearer. */
export const tokenJson = ({ createdAt, scopes, secret }: IssuedToken) =>
  json<Token>({
    accessToken: Redacted.value(secret),
    tokenType: "Bearer",
    scope: Scopes.format(scopes),
    createdAt: Math.floor(createdAt.getTime() / 1000)
  })
