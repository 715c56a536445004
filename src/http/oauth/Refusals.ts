import { Schema } from "effect"
import * as Reply from "../guard/Reply.ts"
import { json } from "../wire/Keys.ts"
import type { OAuthError } from "../wire/OAuth.ts"

/** OAuth error codes in use. */
export const RefusalCode = Schema.Literals([
  "invalid_grant",
  "invalid_client",
  "invalid_scope",
  "invalid_request",
  "unsupported_grant_type",
  "unsupported_response_type",
  "access_denied",
  "invalid_redirect_uri",
  "unauthorized_client",
  "invalid_token"
])
export type RefusalCode = typeof RefusalCode.Type

/** Errors of the authorization server, with their statuses (auth.md section 2). */
const refusals: ReadonlyMap<RefusalCode, { readonly status: number; readonly text: string }> = new Map([
  ["invalid_grant", {
    status: 400,
    text:
      "The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client."
  }],
  ["invalid_client", {
    status: 401,
    text:
      "Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method."
  }],
  ["invalid_scope", { status: 400, text: "The requested scope is invalid, unknown, or malformed." }],
  ["invalid_request", {
    status: 400,
    text: "Request need to be authorized. Required parameter for authorizing request is missing or invalid."
  }],
  ["unsupported_grant_type", {
    status: 400,
    text: "The authorization grant type is not supported by the authorization server."
  }],
  ["unsupported_response_type", { status: 400, text: "The authorization server does not support this response type." }],
  ["access_denied", { status: 403, text: "The resource owner or authorization server denied the request." }],
  ["invalid_redirect_uri", { status: 400, text: "The redirect uri included is not valid." }],
  ["unauthorized_client", { status: 403, text: "You are not authorized to revoke this token" }],
  ["invalid_token", { status: 401, text: "The access token is invalid" }]
])

/** Returns the text of an error; `missing` and `challengeMethod` have the texts of special cases. */
export const textOf = (code: RefusalCode): string => refusals.get(code)?.text ?? code
export const missingText = (name: string): string => `Missing required parameter: ${name}.`
export const challengeMethod = "The code_challenge_method must be S256."

/** Responds with an error as JSON. */
export const refuse = (code: RefusalCode, text: string = textOf(code)) => {
  const status = refusals.get(code)?.status ?? 400
  return Reply.refusal(json<OAuthError>({ error: code, errorDescription: text }), {
    status,
    ...(status === 401 && {
      headers: { "www-authenticate": `Bearer realm="Murmuration", error="${code}", error_description="${text}"` }
    })
  })
}
