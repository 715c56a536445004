import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { publishedId } from "../support/Api.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { call, follow, get, listen, post } from "./Calls.ts"
import { pathOf, routes } from "./Routes.ts"

/** Words of the hidden statuses that are in no name of a person or tag. */
const directWord = "zimtstern"
const privateWord = "lebkuchen"

const channels = [
  { stream: "user" },
  { stream: "user:notification" },
  { stream: "public" },
  { stream: "public:local" },
  { stream: "hashtag", tag: "kekse" },
  { stream: "hashtag:local", tag: "kekse" },
  { stream: "direct" }
]

/** Creates an author and other people, and posts that are hidden from some of them. */
const createPeople = Effect.fnUntraced(function*(suffix: string) {
  const { createPerson } = yield* TestServer
  const make = (name: string) => createPerson(name + suffix)
  const people = {
    author: yield* make("author"),
    friend: yield* make("friend"),
    follower: yield* make("follower"),
    stranger: yield* make("stranger"),
    banned: yield* make("banned")
  }
  const { author, banned, follower, friend } = people
  for (const fan of [friend, follower, banned]) yield* follow(fan, author)
  yield* post(`/api/v1/accounts/${author.accountId}/follow`, follower, { notify: true })
  yield* post(`/api/v1/accounts/${banned.accountId}/block`, author)
  return people
})

/** Lists every readable path, with each id in its parameters, and a query with many parameters. */
const readable = (ids: ReadonlyArray<string>, author: Person) => {
  const query = new URLSearchParams([
    ["q", "kekse"],
    ["acct", author.username],
    ["limit", "80"],
    ["exclude_replies", "0"],
    ...ids.map((id): [string, string] => ["id[]", id])
  ])
  const paths = routes.filter(({ method }) => method === "GET").flatMap((route) =>
    route.path.includes(":") ? [...ids, "kekse"].map((id) => pathOf(route, id)) : [pathOf(route)]
  )
  const pages = ["/", "/tags/kekse", `/@${author.username}`, ...ids.map((id) => `/@${author.username}/${id}`)]
  return [...new Set([...paths.map((path) => `${path}?${query}`), ...paths, ...pages])]
}

layer(TestServer.layer(), { excludeTestServices: true })("rows 55, 58, 59", (it) => {
  it.effect(
    "no read route shows a direct or private post to an unauthorised reader",
    () =>
      Effect.gen(function*() {
        const { author, banned, follower, friend, stranger } = yield* createPeople("1")
        const root = yield* publishedId(author, "Open #kekse")
        const direct = yield* publishedId(author, `@friend1 ${directWord} #kekse`, {
          visibility: "direct",
          spoiler_text: directWord,
          in_reply_to_id: root
        })
        const secret = yield* publishedId(author, `${privateWord} #kekse`, {
          visibility: "private",
          in_reply_to_id: root
        })
        const words = new Map([[direct, directWord], [secret, privateWord]])
        // An edit keeps older texts, which are as secret.
        for (const [id, word] of words) {
          yield* call("PUT", `/api/v1/statuses/${id}`, author, { status: `${word}! #kekse @friend1` })
        }
        yield* post(`/api/v1/statuses/${secret}/favourite`, friend)
        yield* post(`/api/v1/statuses/${secret}/pin`, author)
        const ids = [root, direct, secret, String(author.accountId), String(friend.accountId)]
        const paths = readable(ids, author)
        assert.isAbove(paths.length, 300)
        const shown = new Set<string>()
        const viewers: ReadonlyArray<readonly [string, Person | undefined, ReadonlyArray<string>]> = [
          ["nobody", undefined, [direct, secret]],
          ["stranger", stranger, [direct, secret]],
          ["banned", banned, [direct, secret]],
          ["follower", follower, [direct]],
          ["friend", friend, []]
        ]
        for (const [name, person, hidden] of viewers) {
          for (const path of paths) {
            const { status, text } = yield* get(path, person)
            assert.isBelow(status, 500, path)
            for (const id of hidden) {
              assert.notInclude(text, `"id":"${id}"`, `${name} ${path}`)
              assert.notInclude(text, words.get(id) ?? "", `${name} ${path}`)
            }
            for (const [id, word] of words) if (text.includes(word)) shown.add(`${name} ${id}`)
          }
        }
        // The search must find the posts for those who may read them, or the test shows nothing.
        assert.sameMembers([...shown], [`follower ${secret}`, `friend ${secret}`, `friend ${direct}`])
      })
  )

  it.effect(
    "row 58: a direct post reaches only the streams and notifications of mentioned accounts",
    () =>
      Effect.gen(function*() {
        const { author, follower, friend, stranger } = yield* createPeople("2")
        const listeners = {
          friend: yield* listen(friend, ...channels),
          follower: yield* listen(follower, ...channels),
          stranger: yield* listen(stranger, ...channels)
        }
        const direct = yield* publishedId(author, `@friend2 ${directWord} #kekse`, { visibility: "direct" })
        yield* call("PUT", `/api/v1/statuses/${direct}`, author, { status: `@friend2 ${directWord}! #kekse` })
        yield* publishedId(author, "The end #kekse")
        const events = {
          friend: yield* listeners.friend.until("The end"),
          follower: yield* listeners.follower.until("The end"),
          stranger: yield* listeners.stranger.until("The end")
        }
        for (const name of ["follower", "stranger"] as const) {
          assert.notInclude(JSON.stringify(events[name]), directWord, name)
          assert.notInclude(JSON.stringify(events[name]), direct, name)
        }
        const disclosed = events.friend.filter(({ payload }) => payload.includes(directWord))
        assert.sameMembers([...new Set(disclosed.flatMap(({ stream }) => stream))], [
          "user",
          "user:notification",
          "direct"
        ])
        yield* call("DELETE", `/api/v1/statuses/${direct}`, author)
        yield* publishedId(author, "The very end #kekse")
        assert.notInclude(
          JSON.stringify(yield* listeners.stranger.until("The very end")),
          direct,
          "its id is not disclosed"
        )
        const types = (person: Person) =>
          Effect.map(
            get("/api/v1/notifications", person),
            ({ body }) => body.map(({ type }: { readonly type: string }) => type)
          )
        // The follower has enabled notifications of posts, and gets them for those that it may read.
        assert.deepStrictEqual(yield* types(follower), ["status", "status"])
        assert.deepStrictEqual(yield* types(stranger), [])
      })
  )

  it.effect("row 59: a mention does not notify an account that may not read the post", () =>
    Effect.gen(function*() {
      const { author, banned, stranger } = yield* createPeople("3")
      const sql = yield* SqlClient.SqlClient
      const streams = [yield* listen(stranger, ...channels), yield* listen(banned, ...channels)]
      const secret = yield* publishedId(author, `${privateWord} of @banned3`, { visibility: "private" })
      // Imitates a crafted activity that mentions an account without addressing it.
      yield* sql`INSERT INTO mentions ${
        sql.insert({ statusId: BigInt(secret), accountId: stranger.accountId, silent: true })
      }`
      yield* call("PUT", `/api/v1/statuses/${secret}`, author, { status: `${privateWord}, edited, of @banned3` })
      yield* publishedId(stranger, "The end #kekse")
      yield* publishedId(banned, "The end #kekse")
      for (const stream of streams) assert.notInclude(JSON.stringify(yield* stream.until("The end")), privateWord)
      for (const person of [stranger, banned]) {
        assert.deepStrictEqual((yield* get("/api/v1/notifications", person)).body, [])
        assert.strictEqual((yield* get(`/api/v1/statuses/${secret}`, person)).status, 404)
      }
    }))
})
