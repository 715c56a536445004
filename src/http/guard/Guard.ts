import { Effect, Layer, Option, type Redacted, Schema } from "effect"
import { HttpMethod, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiMiddleware } from "effect/http-api"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { LiveTokens } from "../../services/oauth/LiveTokens.ts"
import { grants } from "../../services/oauth/Scopes.ts"
import type { TokenInfo } from "../../services/oauth/TokenInfo.ts"
import { Tokens } from "../../services/oauth/Tokens.ts"
import { ClientError, NotAllowed, RecordNotFound, Unauthorized, Unprocessable } from "../../services/runtime/Errors.ts"
import { mayAny } from "../../services/staff/Permissions.ts"
import { disabledSince, stateRefusal } from "../../services/visibility/UserStates.ts"
import { noteLocale } from "../languages/RequestWishes.ts"
import { Access, type AccessRule } from "./Access.ts"
import { Caller } from "./Caller.ts"
import { addressOf } from "./ClientAddresses.ts"
import { failureResponse } from "./FailureResponses.ts"
import { type Claim, Limits, pagingClaims, type Quota } from "./Limits.ts"
import * as PresentedTokens from "./PresentedTokens.ts"
import { limitHeaders } from "./Reply.ts"

/** Checks callers of every API endpoint by its `Access`, spends rate limits, and renders errors for clients. */
export class Guard extends HttpApiMiddleware.Service<Guard, { provides: Caller }>()("murmuration/http/guard/Guard", {
  error: ClientError.members
}) {
  static readonly layer = Layer.effect(
    Guard,
    Effect.gen(function*() {
      const tokens = yield* Tokens
      const liveTokens = yield* LiveTokens
      const limits = yield* Limits
      const { limitedFederation } = yield* ServerConfig

      return Guard.of((handler, { endpoint }) => {
        const declared = Access.ruleOf(endpoint)
        const rule: AccessRule = declared.callerKind === "anyone" && !declared.open && limitedFederation
          ? { ...declared, callerKind: "public" }
          : declared
        /** Tells a user who was suspended during the request so, instead of 404 or 403. */
        const suspensionFailure = Effect.fnUntraced(function*<E>(failure: E, token: TokenInfo | undefined) {
          const mayBe = token?.accountId !== undefined && token.state === "active" &&
            HttpMethod.hasBody(endpoint.method) && (isNotFound(failure) || isNotAllowed(failure))
          if (!mayBe || (yield* liveTokens.filterLive([token.tokenId])).size > 0) return yield* failureResponse(failure)
          return yield* failureResponse(disabledSince)
        })
        const respond = (
          request: HttpServerRequest.HttpServerRequest,
          secret: Redacted.Redacted | undefined,
          token: TokenInfo | undefined,
          spentQuota?: Quota
        ) => {
          const address = addressOf(request)
          const spending = spentQuota === undefined
            ? limits.spend(claims(rule, request.url, address, token))
            : Effect.succeed(spentQuota)
          return Effect.flatMap(spending, (quota) => {
            const refusal = refusalOf(rule, secret !== undefined, token, limitedFederation)
            const responded = refusal === undefined
              ? Effect.catch(
                Effect.provideService(handler, Caller, {
                  viewer: token?.accountId,
                  tokenId: token?.tokenId,
                  appId: token?.appId,
                  scopes: token?.scopes ?? noScopes,
                  locale: token?.locale,
                  address
                }),
                (failure) => suspensionFailure(failure, token)
              )
              : failureResponse(refusal)
            return Effect.map(responded, (response) => {
              if (response.status >= 400) noteLocale(request, token?.locale)
              return finish(response, quota)
            })
          })
        }
        const respondTo = (request: HttpServerRequest.HttpServerRequest, secret: Redacted.Redacted) =>
          Effect.flatMap(tokens.find(secret), (found) => respond(request, secret, Option.getOrUndefined(found)))
        /** Looks for a token in the body, which is not read from an address over its limits. */
        const respondByBody = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
          const spentQuota = yield* limits.spend(claims(rule, request.url, addressOf(request), undefined))
          const secret = yield* PresentedTokens.inBody(request)
          return yield* secret === undefined
            ? respond(request, undefined, undefined, spentQuota)
            : respondTo(request, secret)
        })
        return HttpServerRequest.HttpServerRequest.pipe(
          Effect.flatMap((request) => {
            if (rule.callerKind === "anyone") return respond(request, undefined, undefined)
            const secret = PresentedTokens.inHead(request)
            if (secret !== undefined) return respondTo(request, secret)
            return PresentedTokens.mayBeInBody(request)
              ? respondByBody(request)
              : respond(request, undefined, undefined)
          }),
          Effect.catch((failure) => Effect.map(failureResponse(failure), withSecurity))
        )
      })
    })
  )
}

const isNotFound = Schema.is(RecordNotFound)
const isNotAllowed = Schema.is(NotAllowed)

const noScopes: ReadonlySet<string> = new Set()

const claims = (rule: AccessRule, url: string, address: string, token: TokenInfo | undefined): Array<Claim> => {
  const user = token?.accountId === undefined ? undefined : String(token.accountId)
  const found: Array<Claim> = user === undefined || token === undefined
    ? [{ limit: "apiAddress", key: address }]
    : [{ limit: "apiUser", key: user }, { limit: "apiToken", key: String(token.tokenId) }]
  found.push(...pagingClaims(url, user ?? address))
  for (const limit of rule.limits) found.push({ limit, key: user ?? address })
  return found
}

/** Returns why a caller is refused (auth.md section 5); undefined if the call is allowed. */
const refusalOf = (
  rule: AccessRule,
  presented: boolean,
  token: TokenInfo | undefined,
  restricted: boolean
): ClientError | undefined => {
  if (rule.callerKind === "anyone") return
  if (token === undefined || token.revoked) {
    if (presented) return new Unauthorized({ reason: token === undefined ? "invalid" : "revoked" })
    if (rule.callerKind !== "public") return new Unauthorized({ reason: "invalid" })
    return restricted && !rule.open ? new Unauthorized({ reason: "user required" }) : undefined
  }
  if (token.accountId === undefined) {
    if (rule.callerKind === "user") return new Unprocessable({ text: "This method requires an authenticated user" })
    if (rule.callerKind === "public" && restricted && !rule.open) return new Unauthorized({ reason: "user required" })
  } else {
    const refused = stateRefusal(token.state, {
      forUsers: rule.callerKind === "user" && !rule.moved,
      unconfirmed: rule.unconfirmed
    })
    if (refused !== undefined) return refused
    if (rule.callerKind === "app") {
      return new NotAllowed({ text: "This method requires an client credentials authentication" })
    }
  }
  if (rule.scopes.length > 0 && !grants(token.scopes, rule.scopes)) {
    return new NotAllowed({ text: "This action is outside the authorized scopes" })
  }
  return rule.permissions.length > 0 && !mayAny(token.permissions, rule.permissions) ? new NotAllowed({}) : undefined
}

const security = {
  "cache-control": "private, no-store",
  // Includes Compression's value, which would otherwise set the header again.
  vary: "Authorization, Accept-Encoding",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; form-action 'none'",
  "x-content-type-options": "nosniff"
}

/** Adds the headers of every response. A handler's own limit figures take precedence if they are lower. */
const finish = (response: HttpServerResponse.HttpServerResponse, quota: Quota) => {
  const own = response.headers["x-ratelimit-remaining"]
  const figures = own !== undefined && Number(own) <= quota.remaining ? {} : limitHeaders(quota)
  return HttpServerResponse.setHeaders(response, { ...security, ...figures })
}

const withSecurity = HttpServerResponse.setHeaders(security)
