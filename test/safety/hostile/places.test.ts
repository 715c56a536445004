import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import { actorOf, there } from "../../http/activitypub/InboxCalls.ts"
import { deliverFrom, note, OtherServer, send, sendBody, servers } from "../../http/activitypub/Sending.ts"
import type { Json } from "../../services/federation/Peer.ts"
import { json, newPerson } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"

const count = (query: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<unknown>, unknown>) =>
  Effect.orDie(Effect.map(Effect.flatMap(SqlClient.SqlClient, query), (rows) => rows.length))
const mentioning = (me: string): Json => ({ cc: [me], tag: [{ type: "Mention", href: me }] })
const get = (path: string, token?: string) =>
  TestServer.use(({ fetch }) => Effect.map(fetch(path, token === undefined ? {} : { token }), ({ status }) => status))

/** A loopback server at a forbidden address, and the number of its connections. */
const forbidden = Effect.acquireRelease(
  Effect.callback<{ port: number; connections: () => number; close: () => void }>((resume) => {
    let connections = 0
    const server = createServer((_, response) => response.end()).on("connection", () => connections++)
    server.listen(0, "::1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ port, connections: () => connections, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

layer(servers, { excludeTestServices: true })("a hostile server names forbidden places", (it) => {
  it.effect("row 25: nothing that contains an address makes the server connect to a private one", () =>
    Effect.scoped(Effect.gen(function*() {
      const { connections, port } = yield* forbidden
      const { documents, domain, finger, fingers, url } = yield* OtherServer
      const [cleo, evil] = [yield* newPerson("cleo"), yield* there("evil")]
      const me = yield* actorOf(cleo)
      const plain = documents.get("/users/evil") as Json
      const hosts = [`[::1]:${port}`, `[0:0:0:0:0:0:0:1]:${port}`, `[0::0001]:${port}`, `ip6-localhost:${port}`]
      let number = 0
      for (const scheme of ["http", "https"]) {
        for (const host of hosts) {
          const inside = `${scheme}://${host}/x`
          const search = (text: string) => json(cleo, `/api/v2/search?resolve=true&q=${encodeURIComponent(text)}`)
          yield* search(inside)
          yield* search(`somebody@${host}`)
          const name = `pawn${++number}`
          fingers.set(`acct:${name}@${domain}`, finger(name, inside))
          yield* search(`${name}@${domain}`)
          documents.set(`/${name}`, (_, response) => response.writeHead(302, { location: inside }).end())
          yield* search(`${url}/${name}`)
          for (const keyId of [inside, `${inside}#main-key`]) yield* sendBody({ ...evil, keyId }, "{}")
          documents.set(`/users/${name}`, {
            ...plain,
            id: `${url}/users/${name}`,
            preferredUsername: name,
            inbox: inside,
            outbox: inside,
            followers: inside,
            featured: inside,
            icon: { type: "Image", url: inside },
            image: { type: "Image", url: inside },
            publicKey: [inside, { id: inside, owner: inside, publicKeyPem: evil.publicPem }]
          })
          const { accounts: [found] } = yield* search(`${url}/users/${name}`)
          if (found !== undefined) {
            for (const file of [found.avatar, found.header]) yield* get(new URL(file).pathname)
          }
          const attachment = [{
            type: "Image",
            mediaType: "image/png",
            url: inside,
            icon: { type: "Image", url: inside }
          }]
          yield* deliverFrom(evil, {
            type: "Create",
            object: note(evil, name, {
              ...mentioning(me),
              attachment,
              inReplyTo: inside,
              replies: inside,
              context: inside
            })
          })
          for (const object of [inside, { id: inside }]) yield* deliverFrom(evil, { type: "Announce", object })
        }
      }
      const shown: ReadonlyArray<{ status: { media_attachments: ReadonlyArray<{ url: string | null }> } }> =
        yield* json(
          cleo,
          "/api/v1/notifications?limit=40"
        )
      for (const { status } of shown) {
        for (const { url } of status.media_attachments) if (url !== null) yield* get(new URL(url).pathname)
      }
      assert.strictEqual(connections(), 0)
    })))

  it.effect("row 36: odd markup is a value like any other, and no post prevents others from being shown", () =>
    Effect.gen(function*() {
      const [dan, odd] = [yield* newPerson("dan"), yield* there("odd")]
      const me = yield* actorOf(dan)
      const markup = [
        "<p =\">x",
        "<p>a\u0000b</p>",
        "<a href=\"//\" \"<>\"=1>x</a>",
        "<a href='https://[::1'>x</a>",
        "<a href=\"https://\u0000\">x</a>",
        "<p class=\"\uD800\">\uDFFF</p>",
        "<!--",
        "<![CDATA[",
        "<p><p/><//p><p",
        "&#x110000;&#xD800;&#0;&amp",
        "<svg><a xlink:href=x>",
        "<math><mtext></p><style><img src=x>",
        `<p ${"a".repeat(10_000)}>x`,
        `${"<b>".repeat(5_000)}x`,
        "\u202e<bdo dir=rtl>x",
        "<p style=\"x:expression(1)\" on=1 onclick>x",
        "<template><script>1</script>",
        "<a href=\"javas&#99;ript:1\">x</a>",
        ""
      ]
      for (const [n, content] of markup.entries()) {
        assert.strictEqual(
          yield* send(odd, { type: "Create", object: note(odd, `odd${n}`, { ...mentioning(me), content }) }),
          202
        )
      }
      const shapes: ReadonlyArray<Json> = [
        { content: 1 },
        { content: null },
        { content: {} },
        { content: [] },
        { content: undefined, contentMap: { en: [] } },
        { summary: {} },
        { tag: "x" },
        { tag: [null, 1, [], {}] },
        { attachment: [null, { url: {} }, { url: [1] }] },
        { published: 1e99 },
        { published: "-271821-04-20T00:00:00Z" },
        { published: "+275760-09-13T00:00:00.001Z" },
        { to: {} },
        { cc: [[[]]] },
        { url: [{}] }
      ]
      for (const [n, shape] of shapes.entries()) {
        yield* send(odd, { type: "Create", object: note(odd, `shape${n}`, { ...mentioning(me), ...shape }) })
      }
      yield* deliverFrom(odd, { type: "Create", object: note(odd, "plain", mentioning(me)) })
      const shown: ReadonlyArray<{ status: { content: string } }> = yield* json(dan, "/api/v1/notifications?limit=80")
      assert.isAtLeast(shown.length, markup.length)
      for (const { status } of shown) assert.notMatch(status.content, /<script|onclick|javas|style=|<svg|<math/i)
      assert.strictEqual(yield* count((sql) => sql`SELECT FROM inbound_activities WHERE tries > 0`), 0)
    }))

  it.effect("row 37: unverifiable senders leave no data, however many ids they claim", () =>
    Effect.gen(function*() {
      const evil = yield* there("many")
      const rows = Effect.flatMap(
        SqlClient.SqlClient,
        (sql) =>
          sql`SELECT (SELECT count(*) FROM accounts)::int AS a, (SELECT count(*) FROM remote_keys)::int AS k,
          (SELECT count(*) FROM inbound_activities)::int AS i, (SELECT count(*) FROM actors)::int AS o`
      )
      const before = yield* rows
      const statuses = yield* Effect.all(
        Array.from(
          { length: 300 },
          (_, n) =>
            sendBody({ ...evil, keyId: `https://127.0.0.${1 + n % 250}:${1 + n % 9}/users/u${n}#main-key` }, "{}")
        ),
        { concurrency: 10 }
      )
      assert.isTrue(statuses.every((status) => status === 401 || status === 503))
      assert.deepStrictEqual(yield* rows, before)
    }))

  it.effect("row 38: files of others have keys of this server, and no address in a path or query is fetched", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* OtherServer
      const before = requests.length
      const key = "0".repeat(40)
      const paths = [
        `/media_proxy/${key}`,
        `/media_proxy/${key}?url=${url}/a.png`,
        `/media_proxy/?url=${url}`,
        `/media_proxy/${url}/a.png`,
        `/media_proxy/${encodeURIComponent(`${url}/a.png`)}`,
        `/media_proxy//127.0.0.1/a.png`,
        `/media_proxy/..%2f..%2fetc%2fpasswd`,
        `/media_proxy/${key}%00.png`,
        `/media_proxy/${key.toUpperCase()}G`,
        `/media_proxy/${key}/original?file_type=x`,
        `/media_proxy/\\${url}`
      ]
      for (const path of paths) assert.notInclude([200, 301, 302, 500], yield* get(path), path)
      assert.strictEqual(requests.length, before)
    }))
})
