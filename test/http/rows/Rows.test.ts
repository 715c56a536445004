import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { grants } from "../../../src/services/oauth/Scopes.ts"
import { Unavailable } from "../../../src/services/runtime/Errors.ts"
import { eventually } from "../../support/Eventually.ts"
import { TestServer } from "../../support/Server.ts"
import { crowd } from "./Crowd.ts"
import { nameOf, type Row, rows } from "./Rows.ts"

interface Reply {
  readonly status: number
  readonly error: string
  readonly link: string
  readonly body: unknown
}

const callRow = Effect.fnUntraced(function*({ method }: Pick<Row, "method">, path: string, token?: string) {
  const { fetch } = yield* TestServer
  const response = yield* fetch(path, {
    method,
    redirect: "manual",
    ...(method === "GET" ? {} : { json: {} }),
    ...(token === undefined ? {} : { token })
  })
  // Streams never end.
  const streams = response.headers.get("content-type")?.includes("event-stream") === true
  const text = yield* Effect.promise(async () => streams ? (await response.body?.cancel(), "") : response.text())
  const [, error = ""] = /^\{"error":"((?:[^"\\]|\\.)*)"/.exec(text) ?? []
  const reply: Reply = {
    status: response.status,
    error,
    link: response.headers.get("link") ?? "",
    body: text.startsWith("[") || text.startsWith("{") ? JSON.parse(text) : undefined
  }
  return reply
})

/** Scopes that a token may have alone. */
const single =
  "read:search read:lists read:mutes write:filters write:reports write:conversations push crypto profile follow".split(
    " "
  )

const isRouted = ({ error, status }: Reply) => !(status === 404 && error === "Not Found") && status !== 405
const outside = "This action is outside the authorized scopes"
const late = new Unavailable().message

/** Returns the list in a response, wherever it is. */
const listed = (body: unknown): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(body)) return body
  if (typeof body !== "object" || body === null) return undefined
  const lists = ["notification_groups", "statuses", "accounts", "collections"].flatMap(
    (name): ReadonlyArray<unknown> => {
      const list: unknown = Reflect.get(body, name)
      return Array.isArray(list) && list.length > 0 ? [list] : []
    }
  )
  const [first] = lists
  return Array.isArray(first) ? first : []
}

layer(TestServer.layer(), { excludeTestServices: true })("rows of the client API", (it) => {
  it.effect(
    "S-006, S-292, S-298, S-300: each responds as documented: allowed callers and scopes, page size and links to further pages",
    () =>
      Effect.gen(function*() {
        const { createToken } = yield* TestServer
        const { caller, ids, tokens } = yield* crowd
        const narrow = new Map<string, string>()
        const tokenWith = Effect.fnUntraced(function*(scope: string) {
          const known = narrow.get(scope) ?? (yield* createToken(caller.accountId, [scope]))
          narrow.set(scope, known)
          return known
        })

        const groupKey = Effect.map(
          callRow({ method: "GET" }, "/api/v2/notifications?types[]=favourite", tokens.reader),
          ({ body }) => /"group_key":"([^"]+)"/.exec(JSON.stringify(body))?.[1] ?? ""
        )
        const key = yield* groupKey
        const ofHider = /^\/api\/v1\/(?:blocks|mutes|follow_requests)$/
        const ofNewcomer = /v\d\/suggestions$|notifications\/requests$/
        /** Returns the path of a row's list. */
        const listAt = ({ page, path }: Row) => {
          const filled = path.replace(":group_key", key).replace(":list_id", String(ids.list)).replace(
            ":hashtag",
            "obst1"
          )
            .replace("/lists/:id", `/lists/${ids.list}`)
          const id = /statuses$|featured/.test(path) ? ids.account : /\/statuses\//.test(path) ? ids.own : ids.me
          const batch = (first: bigint) =>
            `${path}?${Array.from({ length: page?.most ?? 0 }, (_, n) => `id[]=${first + BigInt(n)}`).join("&")}`
          if (path === "/api/v1/accounts") return batch(ids.account)
          if (path === "/api/v1/statuses") return batch(ids.post)
          if (path === "/api/v1/timelines/link") return `${path}?url=${encodeURIComponent("https://page1.example/")}`
          const more = path.endsWith("/search")
            ? "?q=" + (path.includes("accounts") ? "crowd" : path.includes("peers") ? "crowd" : "kumquat&type=statuses")
            : "?"
          return filled.replace(":id", String(id)) + more
        }
        const by = ({ path }: Row) =>
          ofHider.test(path) ? tokens.hider : ofNewcomer.test(path) ? tokens.newcomer : tokens.reader

        const who = Effect.fnUntraced(
          function*(row: Row, path: string): Effect.fn.Return<string | undefined, never, TestServer> {
            const inApi = path.startsWith("/api/") || row.scopes.length > 0
            const anonymous = yield* callRow(row, path)
            if (!isRouted(anonymous)) return "there is no such route"
            if (!inApi) return undefined
            const needsToken = row.who !== "none" && row.who !== "none or user"
            if (needsToken && anonymous.status !== 401) return `without a token: ${anonymous.status}`
            if (!needsToken && [401, 403].includes(anonymous.status)) return `without a token: ${anonymous.status}`
            for (const scope of row.who === "none" ? [] : row.scopes) {
              const admitted = yield* callRow(row, path, yield* tokenWith(scope))
              if (admitted.status === 401 || admitted.error === outside) return `with ${scope}: ${admitted.status}`
            }
            const strange = single.find((scope) => !grants(new Set([scope]), row.scopes))
            if (row.who !== "none" && row.scopes.length > 0 && strange !== undefined && row.who !== "app") {
              const refused = yield* callRow(row, path, yield* tokenWith(strange))
              // Streams do not distinguish an invalid token from one without the scope.
              const streams = row.group === "streaming" && refused.status === 401
              if (
                !streams && (refused.status !== 403 || refused.error !== outside)
              ) return `with ${strange}: ${refused.status}`
            }
            return undefined
          }
        )

        const pages = Effect.fnUntraced(function*(row: Row): Effect.fn.Return<string | undefined, never, TestServer> {
          const { page } = row
          if (page === undefined) return undefined
          const at = listAt(row)
          // Only home is built on demand: 206 until it is complete, 503 if its actor is late on a busy machine.
          const isBuilding = ({ error, status }: Reply) =>
            row.path === "/api/v1/timelines/home" && (status === 206 || status === 503 && error === late)
          const of = (more: string) => eventually(callRow(row, `${at}&${more}`, by(row)), (reply) => !isBuilding(reply))
          if (row.path.endsWith("unread_count") || row.path.endsWith("context")) return undefined
          const sizes = page.paging === "none" ? [page.most] : [page.usual, page.most, 1]
          for (const [index, size] of sizes.entries()) {
            const { body, link, status } = yield* of(["", "limit=1000", "limit=1"][index] ?? "")
            const found = listed(body)?.length
            if (status !== 200 || found !== size) {
              return `${["without a limit", "limit=1000", "limit=1"][index]}: ${status}, ${found} of ${size}`
            }
            if (page.paging.includes("link")) {
              const next = /<([^>]+)>; rel="next"/.exec(link)?.[1]
              if (next === undefined || !next.startsWith("http")) return "no link to the next page"
              const [, cursor = ""] = page.paging.split(" ")
              const parameter = page.paging === "offset link" ? "offset=" : `${cursor.split("/")[0]}_id=`
              if (!next.includes(parameter)) return `the next page is not by ${parameter}`
              if (
                page.paging !== "offset link" &&
                !new RegExp(`[?&]${cursor.split("/")[1]}_id=[^>]*>; rel="prev"`).test(link)
              ) {
                return `the previous page is not by ${cursor.split("/")[1]}_id`
              }
              const url = new URL(next)
              const second = listed((yield* callRow(row, url.pathname + url.search, by(row))).body) ?? []
              const first = JSON.stringify(listed(body)?.[0])
              if (second.length === 0 || JSON.stringify(second[0]) === first) return "the next page does not go on"
            }
          }
          if (page.paging === "offset") {
            const [one, two] = [yield* of("limit=2"), yield* of("limit=1&offset=1")]
            if (
              JSON.stringify(listed(one.body)?.[1]) !== JSON.stringify(listed(two.body)?.[0])
            ) return "offset does not go on"
          }
          return undefined
        })

        const problems = new Map<string, string>()
        for (const row of rows) {
          // Ids of missing objects: permissions are checked first.
          const path = row.path.replace("*any", "user").replace(/:\w+/g, "1")
          const found = row.gone
            ? isRouted(yield* callRow(row, path, tokens.reader)) ? "it is there" : undefined
            : (yield* who(row, path)) ?? (yield* pages(row))
          if (found !== undefined) problems.set(nameOf(row), found)
        }
        const told = Array.from(problems, ([name, why]) => `  ${name}: ${why}`)
        // oxlint-disable-next-line no-console
        console.log(
          [`${rows.length - problems.size} of ${rows.length} rows answer as they are documented; not yet:`, ...told]
            .join("\n")
        )
        assert.deepStrictEqual([...problems.keys()], [], told.join("\n"))
      })
  )
})
