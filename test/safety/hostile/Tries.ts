import { OpenApi } from "effect/http-api"
import { Api } from "../../../src/http/Api.ts"
import { methods } from "../../../src/http/docs/OpenApiDocument.ts"
import type { Dice } from "../../simulation/Seeded.ts"
import type { Person } from "../../support/Server.ts"
import { call } from "../Calls.ts"
import { jsonText, oneOf, text } from "./Generate.ts"

interface Route {
  readonly method: string
  readonly path: string
  /** Names of the route's parameters. */
  readonly names: ReadonlyArray<string>
}

const asArray = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

/** Every route that the API declares, with its parameter names. */
const declared: ReadonlyArray<Route> = (() => {
  const { components, paths } = OpenApi.fromApi(Api)
  const names = (schema: unknown, depth = 0): ReadonlyArray<string> => {
    if (typeof schema !== "object" || schema === null || depth > 6) return []
    if ("$ref" in schema) return names(components.schemas[String(schema.$ref).split("/").at(-1) ?? ""], depth + 1)
    const own = "properties" in schema && typeof schema.properties === "object"
      ? Object.keys(schema.properties ?? {})
      : []
    const parts = [
      ...("anyOf" in schema ? asArray(schema.anyOf) : []),
      ...("allOf" in schema ? asArray(schema.allOf) : [])
    ]
    return [...own, ...parts.flatMap((part) => names(part, depth + 1))]
  }
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined) return []
      const { parameters, requestBody } = operation
      return [{
        method: method.toUpperCase(),
        path: path.replaceAll(/\{(\w+)\}/g, ":$1"),
        names: [
          ...parameters.filter(({ in: where }) => where === "query").map(({ name }) => name),
          ...Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => names(schema))
        ]
      }]
    })
  )
})()

/** Pages and protocols besides the API. */
export const others: ReadonlyArray<Route> = [
  {
    method: "GET",
    path: "/oauth/authorize",
    names: ["client_id", "redirect_uri", "scope", "state", "code_challenge", "lang"]
  },
  { method: "GET", path: "/auth/sign_in", names: ["return_to", "lang"] },
  { method: "POST", path: "/auth/sign_in", names: ["email", "password", "return_to", "otp_attempt"] },
  { method: "POST", path: "/auth/password/new", names: ["email"] },
  { method: "GET", path: "/auth/two_factor", names: ["return_to", "lang"] },
  { method: "POST", path: "/auth/two_factor", names: ["otp_attempt", "return_to", "authenticity_token"] },
  { method: "GET", path: "/settings/two_factor_authentication", names: ["return_to", "lang"] },
  {
    method: "POST",
    path: "/settings/two_factor_authentication/:id",
    names: ["setup", "code", "password", "return_to"]
  },
  { method: "GET", path: "/auth/confirmation", names: ["confirmation_token"] },
  { method: "GET", path: "/.well-known/webfinger", names: ["resource", "rel"] },
  { method: "GET", path: "/@:id", names: ["max_id", "page"] },
  { method: "GET", path: "/tags/:id", names: ["max_id"] },
  { method: "GET", path: "/users/:id/outbox", names: ["page", "min_id", "max_id"] },
  { method: "GET", path: "/@:id/:id/embed", names: ["max_id"] },
  { method: "GET", path: "/@:id/wrapstodon/:id/:id", names: [] },
  { method: "GET", path: "/email_subscriptions/confirmation", names: ["confirmation_token"] },
  { method: "GET", path: "/unsubscribe", names: ["token"] },
  { method: "GET", path: "/email_subscriptions/new/:id", names: ["lang"] },
  { method: "POST", path: "/email_subscriptions/new/:id", names: ["email", "authenticity_token"] },
  { method: "GET", path: "/unsubscribe/emails", names: ["token"] },
  { method: "POST", path: "/unsubscribe/emails", names: ["token", "List-Unsubscribe"] },
  { method: "POST", path: "/unsubscribe", names: ["token", "List-Unsubscribe"] },
  { method: "GET", path: "/users/:id/authorizations/:id", names: [] },
  { method: "GET", path: "/users/:id/quote_authorizations/:id", names: [] },
  { method: "GET", path: "/users/:id/statuses/:id/emoji_reactions", names: ["page"] },
  { method: "GET", path: "/users/:id/featured_collections", names: ["page"] },
  { method: "GET", path: "/:id", names: [] },
  { method: "POST", path: "/nothing/of/the/kind/:id", names: ["a"] },
  { method: "PUT", path: "/api/v9/:id", names: ["a"] }
]

/** Routes that would end the client's own tokens or block it. */
export const excludedPaths = /^\/(?:oauth\/revoke|api\/v1\/streaming|auth\/sign_out)/
const routes = [...declared, ...others].filter(({ path }) => !excludedPaths.test(path))

/** Routes added after Mastodon's, which fewer people have reviewed. */
const newerRoutes = routes.filter(({ path }) =>
  /interaction|reactions|drafts|subscri|oembed|embed|collection|quote|catchup|wrapstodon|annual|crypto|encrypt|authorizations/
    .test(path)
)

export interface HostileRequest {
  readonly method: string
  readonly path: string
  readonly signedIn: boolean
  readonly headers: Record<string, string>
  readonly body: string | FormData | undefined
}

/** Percent-encodes a text; a lone surrogate becomes the bytes it would have in UTF-8. */
const encoded = (value: string) =>
  value.isWellFormed()
    ? encodeURIComponent(value)
    : encodeURIComponent(value.toWellFormed()).replaceAll("%EF%BF%BD", "%ED%A0%80")

/** Returns a name as it is, with unexpected brackets, or an unknown one. */
const nameOf = (dice: Dice, names: ReadonlyArray<string>): string => {
  const name = names.length === 0 || dice.chance(0.1)
    ? dice.pick(["a", "id", "__proto__", "k".repeat(5_000)])
    : dice.pick(names)
  return oneOf(
    dice,
    () => name,
    () => name,
    () => `${name}[]`,
    () => `${name}[${dice.pick(["0", "a", "600", "-1", "999999999999", "__proto__", "\u0000"])}]`,
    () => `${name}[][${dice.pick(names.length === 0 ? ["a"] : names)}]`,
    () => `${name}${"[a]".repeat(dice.pick([2, 6, 500]))}`,
    () => `${name}${dice.pick(["[", "]", "[[", "[]]", "][a"])}`
  )
}

const formText = (dice: Dice, names: ReadonlyArray<string>, bytesMax: number): string =>
  Array.from(
    { length: dice.pick([1, 3, 8, 8, 1_100]) },
    () => `${encoded(nameOf(dice, names))}=${encoded(text(dice))}`
  )
    .reduce((all, pair) => all.length + pair.length > bytesMax ? all : `${all}&${pair}`, "")

/** Makes a request of a hostile client: a known route, with real or impossible ids, and unusual values. */
export const hostileRequest = (dice: Dice, ids: ReadonlyArray<string>): HostileRequest => {
  const { method, names, path: pattern } = dice.pick(dice.chance(0.5) ? newerRoutes : routes)
  const path = pattern.replaceAll(
    /:\w+/g,
    () => dice.chance(0.7) ? dice.pick(ids) : encoded(text(dice).slice(0, 2_000)) || "-"
  )
  // Some values are valid, so that the invalid others are reached.
  const value = () =>
    dice.chance(0.3) ? JSON.stringify(dice.pick([...ids, "public", "en", "hello", "true"])) : jsonText(dice)
  const query = dice.chance(method === "GET" ? 0.9 : 0.2) ? `?${formText(dice, names, 8_000).slice(1)}` : ""
  const kind = method === "GET"
    ? (dice.chance(0.1) ? "json" : "none")
    : dice.pick(["json", "json", "form", "multipart", "none"])
  const entries = () =>
    Array.from(
      { length: dice.pick([1, 3, 6]) },
      () => `${JSON.stringify(dice.chance(0.9) && names.length > 0 ? dice.pick(names) : text(dice))}:${value()}`
    )
  const json = () => dice.chance(0.9) ? `{"status":"x",${entries().join(",")}}` : jsonText(dice)
  const multipart = () => {
    const data = new FormData()
    for (let n = 0; n < dice.pick([1, 4, 30]); n++) {
      const name = nameOf(dice, names)
      if (dice.chance(0.2)) data.append(name, new Blob([text(dice)]), text(dice).slice(0, 300))
      else data.append(name, text(dice))
    }
    return data
  }
  return {
    method,
    path: `/${path.replace(/^\/+/, "")}${query}`,
    signedIn: dice.chance(0.85),
    headers: {
      ...(kind === "json" &&
        { "content-type": dice.pick(["application/json", "application/json", "application/json; charset=utf-16"]) }),
      ...(kind === "form" && { "content-type": "application/x-www-form-urlencoded" }),
      ...(dice.chance(0.2) && { "accept-language": encoded(text(dice)).slice(0, 4_000) }),
      ...(dice.chance(0.2) && { "idempotency-key": encoded(text(dice)).slice(0, 4_000) }),
      ...(dice.chance(0.1) &&
        { accept: dice.pick(["text/html", "application/activity+json", "*/*;q=NaN", "\u00ff"]) }),
      ...(dice.chance(0.1) && { "x-forwarded-for": dice.pick(["1.2.3.4", "x", "::1%eth0", "[::]:99", ","]) })
    },
    body: method === "GET" || kind === "none"
      ? undefined
      : kind === "multipart"
      ? multipart()
      : kind === "form"
      ? formText(dice, names, 400_000)
      : json()
  }
}

export const describeRequest = ({ body, headers, method, path }: HostileRequest) =>
  `${method} ${path.slice(0, 400)} ${JSON.stringify(headers).slice(0, 300)} ${
    typeof body === "string" ? body.slice(0, 600) : JSON.stringify([...(body ?? [])].map(([name]) => name.slice(0, 80)))
  }`

export const send = ({ body, headers, method, path, signedIn }: HostileRequest, by: Person) =>
  call(method, path, signedIn ? by : undefined, undefined, {
    headers,
    redirect: "manual",
    ...(body !== undefined && { body })
  })
