import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { adminFixtures } from "../support/AdminFixtures.ts"
import { administratorBrowser } from "../support/AdministratorBrowser.ts"
import { ask, publishedId, settled } from "../support/Api.ts"
import { picture, uploaded } from "../support/MediaFiles.ts"
import { RouteTable } from "../support/RouteTable.ts"
import { TestServer } from "../support/Server.ts"
import { server } from "../support/WebServer.ts"

/* One path for each route that browsers open, on a server with one entry of each kind. */

/** Routes of other programs, and parts of pages. */
const withoutPages = [
  /^\/(?:api\/v1|api\/openapi|ap|users|assets|avatars|headers|emojis|system|media_proxy|nodeinfo|\.well-known|actor|contexts)(?:\/|\.|$)/,
  /^\/(?:oauth\/applications\/|manifest|robots\.txt|sitemap\.xml|sw\.js|favicon\.ico)/,
  /\/feed\.\w+$|\.(?:csv|zip|tar\.gz)$|\/download$/,
  /^\/settings\/exports\/:name$/,
  /^\/web\/(?:compose|follows|statuses$|statuses\/:id\/translation$|stream|unread)/
]

/** Returns the patterns of the GET routes that respond with pages. */
export const pageRoutes = Effect.scoped(
  Effect.provide(
    Effect.map(RouteTable, (table) =>
      [...new Set(table)].flatMap((route) => {
        const [method, path = ""] = route.split(" ")
        return method === "GET" && withoutPages.every((pattern) => !pattern.test(path)) ? [path] : []
      }).toSorted()),
    server()
  )
)

/** Routes that show the page of an expired link or a missing entry, which is checked like the others. */
export const expired: ReadonlySet<string> = new Set([
  "/*",
  "/@:name/wrapstodon/:year/:key",
  "/auth/captcha_confirmation",
  "/auth/confirmation",
  "/auth/owner",
  "/authorize_interaction",
  "/auth/password/edit",
  "/disputes/strikes/:id",
  "/email_subscriptions/confirmation",
  "/email_subscriptions/new/:name",
  "/intent",
  "/interact",
  "/privacy-policy/:day",
  "/settings/archives/:id",
  "/settings/imports/:id",
  "/settings/live_imports/callback",
  "/terms-of-service",
  "/terms-of-service/:day",
  "/unsubscribe",
  "/unsubscribe/emails"
])

const longWord = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"

/** Creates one entry of each kind; returns its owner, who is an administrator, and the path of a route. */
export const everything = Effect.gen(function*() {
  const { createPerson } = yield* TestServer
  const done = (...request: Parameters<typeof ask>) =>
    Effect.map(ask(...request), ({ body, status }) => {
      if (status !== 200) throw new Error(`${request.slice(1, 3).join(" ")}: ${status} ${JSON.stringify(body)}`)
      return body
    })
  const sql = yield* SqlClient.SqlClient
  const owner = yield* administratorBrowser("augusta")
  const bob = yield* createPerson("bob_with_a_rather_long_name")
  yield* done(bob, "PATCH", "/api/v1/accounts/update_credentials", {
    display_name: longWord.slice(0, 30),
    discoverable: true,
    note: `See https://example.org/a/long/path/to/some/page and ${longWord}`,
    fields_attributes: [{ name: longWord, value: `https://example.org/${longWord}` }]
  })
  const file = yield* Effect.flatMap(
    Effect.promise(() => picture().png().toBuffer()),
    (bytes) => uploaded(bob, bytes, { description: "A stripe" })
  )
  yield* done(owner, "POST", `/api/v1/accounts/${bob.accountId}/follow`, {})
  const post = yield* publishedId(bob, `@augusta a #tag and ${longWord} https://example.org/a/long/path/to/a/page`, {
    media_ids: [file.id]
  })
  yield* publishedId(bob, "Which?", { poll: { options: [longWord.slice(0, 50), "No"], expires_in: 3_600 } })
  yield* publishedId(bob, "@augusta between us", { visibility: "direct" })
  const own = yield* publishedId(owner, "Mine, with a #tag", { in_reply_to_id: post })
  yield* done(owner, "PUT", `/api/v1/statuses/${own}`, { status: "Mine, edited #tag" })
  yield* publishedId(owner, "Later", { scheduled_at: "2090-01-01T00:00:00Z" })
  for (const act of ["favourite", "bookmark"]) yield* done(owner, "POST", `/api/v1/statuses/${post}/${act}`)
  yield* done(bob, "POST", `/api/v1/statuses/${own}/favourite`)
  const list = yield* done(owner, "POST", "/api/v1/lists", { title: longWord })
  yield* done(owner, "POST", `/api/v1/lists/${list.id}/accounts`, { account_ids: [String(bob.accountId)] })
  const filter = yield* done(owner, "POST", "/api/v2/filters", {
    title: "Weather",
    context: ["home"],
    keywords_attributes: [{ keyword: longWord }]
  })
  const created = yield* done(owner, "POST", "/api/v1/collections", {
    name: "Neighbours",
    account_ids: [String(bob.accountId)]
  })
  yield* done(owner, "POST", "/api/v1/tags/tag/follow")
  yield* settled
  const staffPath = yield* adminFixtures(owner)
  const [invite] = yield* sql<{ readonly code: string }>`SELECT code FROM invites LIMIT 1`
  const notes = yield* done(owner, "GET", "/api/v1/notifications")
  const examples: Readonly<Record<string, string>> = {
    "/*": "/nowhere",
    "/docs/*": "/docs/guide/backup",
    "/@:name/:id/history": `/@augusta/${own}/history`,
    "/@:name/lists": "/@bob_with_a_rather_long_name/lists",
    "/collections/:id": `/collections/${created.collection.id}`,
    "/collections/:id/edit": `/collections/${created.collection.id}/edit`,
    "/invite/:code": `/invite/${invite?.code}`,
    "/lists/:id": `/lists/${list.id}`,
    "/lists/:id/members": `/lists/${list.id}/members`,
    "/notifications/:id": `/notifications/${notes[0]?.id}`,
    "/settings/filters/:id": `/settings/filters/${filter.id}`,
    "/tags/:name": "/tags/tag",
    "/search": "/search?q=bob",
    "/admin/instances/:domain": "/admin/instances/a-very-long-name-of-a-server.somewhere.example",
    "/share": "/share?text=Hello"
  }
  const pathOf = (route: string) => {
    if (route.startsWith("/admin") && examples[route] === undefined) return staffPath(route)
    const path = examples[route] ?? route
      .replace(":name/:id", `bob_with_a_rather_long_name/${post}`)
      .replace("/web/statuses/:id", `/web/statuses/${own}`)
      .replace("/web/accounts/:id", `/web/accounts/${bob.accountId}`)
      .replace(":name", "bob_with_a_rather_long_name").replace(":tag", "tag").replaceAll(/:\w+/g, "1")
    return Effect.succeed(path)
  }
  return { owner, pathOf }
})
