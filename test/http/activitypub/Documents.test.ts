import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { eventually } from "../../support/Eventually.ts"
import { followers, person } from "../../support/People.ts"
import { status } from "../../support/Posts.ts"
import { documentAt, get, send } from "../../support/Requests.ts"
import { server } from "../../support/WebServer.ts"

const here = "https://local.example"

layer(server(), { excludeTestServices: true })("documents of ActivityPub", (it) => {
  it.effect("S-009 D-028: an account is an actor with its own key, the same at each of its addresses", () =>
    Effect.gen(function*() {
      yield* person("anna")
      const { headers, json, status } = yield* documentAt("/users/anna")
      assert.strictEqual(status, 200)
      assert.strictEqual(headers.get("content-type"), "application/activity+json; charset=utf-8")
      assert.strictEqual(headers.get("vary"), "Accept, Authorization")
      assert.strictEqual(headers.get("cache-control"), "public, max-age=180")
      assert.deepInclude(json, {
        id: `${here}/users/anna`,
        type: "Person",
        preferredUsername: "anna",
        webfinger: "anna@local.example",
        inbox: `${here}/users/anna/inbox`,
        outbox: `${here}/users/anna/outbox`,
        followers: `${here}/users/anna/followers`,
        following: `${here}/users/anna/following`,
        featured: `${here}/users/anna/collections/featured`,
        featuredTags: `${here}/users/anna/collections/tags`,
        url: `${here}/@anna`,
        manuallyApprovesFollowers: false,
        suspended: false
      })
      assert.deepStrictEqual(json.endpoints, { sharedInbox: `${here}/inbox` })
      assert.match(json.published, /T00:00:00\.000Z$/)
      assert.strictEqual(json.publicKey.id, `${here}/users/anna#main-key`)
      assert.strictEqual(json.publicKey.owner, `${here}/users/anna`)
      assert.match(json.publicKey.publicKeyPem, /^-----BEGIN PUBLIC KEY-----/)
      for (const path of ["/@anna", "/users/ANNA", "/@Anna"]) {
        assert.deepStrictEqual((yield* documentAt(path)).json, json, path)
      }
    }))

  it.effect("F42: hashtags of a biography are tags of the actor, each once", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* person("tagged")
      yield* sql`UPDATE accounts SET note = 'I like #Birds, #birds and #Möwen' WHERE id = ${id}`
      assert.deepStrictEqual((yield* documentAt("/users/tagged")).json.tag, [
        { type: "Hashtag", href: `${here}/tags/birds`, name: "#birds" },
        { type: "Hashtag", href: `${here}/tags/mowen`, name: "#mowen" }
      ])
    }))

  it.effect("row 79: the same address shows people a page, and caches know that there are two variants", () =>
    Effect.gen(function*() {
      yield* person("ben")
      for (
        const type of ["text/html", "*/*", "text/html, application/json", "application/activity+json;q=0.1, text/html"]
      ) {
        const page = yield* send("/@ben", { headers: { accept: type } })
        assert.match(page.headers.get("content-type") ?? "", /^text\/html/)
        assert.strictEqual(page.headers.get("vary"), "Accept, Accept-Language, Cookie")
        const elsewhere = yield* send("/users/ben", { headers: { accept: type } })
        assert.strictEqual(elsewhere.status, 302)
        assert.strictEqual(elsewhere.headers.get("location"), `${here}/@ben`)
        assert.strictEqual(elsewhere.headers.get("vary"), "Accept")
      }
      const ld = "application/ld+json; profile=\"https://www.w3.org/ns/activitystreams\""
      const document = yield* documentAt("/@ben", { accept: ld })
      assert.deepStrictEqual([document.json.id, document.headers.get("vary")], [
        `${here}/users/ben`,
        "Accept, Authorization"
      ])
      // Our URLs come from the configuration, whatever host a request names.
      const evil = yield* documentAt("/users/ben", { host: "evil.test", "x-forwarded-host": "evil.test" })
      assert.notInclude(evil.text, "evil.test")
    }))

  it.effect("F89: plain JSON gets the document, as in Mastodon, and weights decide between document and page", () =>
    Effect.gen(function*() {
      const ida = yield* person("ida")
      const id = yield* status(ida, "hello")
      const paths = ["/users/ida", "/@ida", `/users/ida/statuses/${id}`, `/@ida/${id}`]
      const weights = ["application/json", "application/json;q=0.5, text/html;q=0.4", "text/html;q=0.9, application/*"]
      for (const path of paths) {
        for (const wanted of weights) {
          const { headers, status } = yield* send(path, { headers: { accept: wanted } })
          assert.strictEqual(status, 200, `${path} ${wanted}`)
          assert.strictEqual(
            headers.get("content-type"),
            "application/activity+json; charset=utf-8",
            `${path} ${wanted}`
          )
        }
        const page = yield* send(path, { headers: { accept: "application/json;q=0, text/html" } })
        assert.notInclude(page.headers.get("content-type") ?? "", "json", path)
      }
      const hostMeta = (wanted: string) =>
        Effect.map(
          send("/.well-known/host-meta", { headers: { accept: wanted } }),
          ({ headers }) => headers.get("content-type")
        )
      assert.match((yield* hostMeta("application/xrd+xml, application/json;q=0.5")) ?? "", /xrd/)
      assert.match((yield* hostMeta("application/xrd+xml;q=0.2, application/json;q=0.5")) ?? "", /json/)
      assert.match((yield* hostMeta("*/*")) ?? "", /xrd/)
    }))

  it.effect("an ETag avoids sending unchanged documents", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* person("cleo")
      const etag = (yield* documentAt("/users/cleo")).headers.get("etag") ?? ""
      assert.isNotEmpty(etag)
      const same = yield* documentAt("/users/cleo", { "if-none-match": etag })
      assert.strictEqual(same.status, 304)
      assert.strictEqual(same.text, "")
      yield* sql`UPDATE accounts SET display_name = 'Cleo' WHERE id = ${id}`
      const broadcast = yield* Broadcast
      yield* broadcast.publish({ _tag: "Changed", kind: "account", ids: [id] })
      yield* eventually(documentAt("/users/cleo", { "if-none-match": etag }), ({ status }) => status === 200)
      assert.strictEqual((yield* documentAt("/users/cleo")).json.name, "Cleo")
    }))

  it.effect("S-014: a suspended account shows only its suspension; unknown ones are 404, deleted ones 410", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* person("dora")
      const note = yield* status(id, "hello")
      const now = new Date(yield* Clock.currentTimeMillis)
      yield* sql`UPDATE accounts SET suspended_at = ${now}, display_name = 'Secret', note_html = '<p>secret</p>' WHERE id = ${id}`
      const { json, text } = yield* documentAt("/users/dora")
      assert.deepInclude(json, { name: "dora", summary: "", suspended: true, attachment: [] })
      assert.notInclude(text.toLowerCase(), "secret")
      for (const path of ["outbox", "followers", "following", "collections/featured", `statuses/${note}`]) {
        assert.strictEqual((yield* documentAt(`/users/dora/${path}`)).status, 403, path)
      }
      assert.strictEqual((yield* documentAt("/users/nobody")).status, 404)
      yield* sql`INSERT INTO retired_usernames (username, retired_at) VALUES ('erik', ${now})`
      const gone = yield* documentAt("/users/erik")
      assert.strictEqual(gone.status, 410)
      assert.strictEqual(gone.headers.get("cache-control"), "public, max-age=180")
    }))

  it.effect("the server itself is an actor, which WebFinger finds by its domain", () =>
    Effect.gen(function*() {
      const { json } = yield* documentAt("/actor")
      assert.deepInclude(json, { id: `${here}/actor`, type: "Application", preferredUsername: "local.example" })
      assert.strictEqual(json.publicKey.owner, `${here}/actor`)
      for (const resource of ["acct:local.example@local.example", `${here}/actor`]) {
        const finger = yield* get(`/.well-known/webfinger?resource=${encodeURIComponent(resource)}`)
        assert.strictEqual(finger.status, 200)
        const self = JSON.parse(finger.text).links.find(({ rel }: { rel: string }) => rel === "self")
        assert.strictEqual(self.href, `${here}/actor`)
      }
    }))

  it.effect("followers and following in pages; a hidden list has only its total (row 60)", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const id = yield* person("frida")
      const fans = yield* Effect.forEach(Array.from({ length: 14 }), (_, n) => person(`fan${n}`))
      yield* followers(id, fans)
      const front = yield* documentAt("/users/frida/followers")
      assert.deepInclude(front.json, { type: "OrderedCollection", totalItems: 14 })
      const first = yield* documentAt(front.json.first.slice(here.length))
      assert.strictEqual(first.json.orderedItems.length, 12)
      const second = yield* documentAt(first.json.next.slice(here.length))
      assert.strictEqual(second.json.orderedItems.length, 2)
      assert.isUndefined(second.json.next)
      assert.sameMembers(
        [...first.json.orderedItems, ...second.json.orderedItems],
        fans.map((_, n) => `${here}/users/fan${n}`)
      )
      assert.deepStrictEqual((yield* documentAt("/users/fan0/following?page=true")).json.orderedItems, [
        `${here}/users/frida`
      ])
      yield* sql`UPDATE accounts SET hide_collections = true WHERE id = ${id}`
      yield* Broadcast.use(({ publish }) => publish({ _tag: "Changed", kind: "account", ids: [id] }))
      const hidden = yield* documentAt("/users/frida/followers")
      assert.strictEqual(hidden.json.totalItems, 14)
      assert.isUndefined(hidden.json.first)
      assert.strictEqual((yield* documentAt("/users/frida/followers?page=true")).status, 403)
      assert.strictEqual((yield* documentAt("/users/frida/following?page=true")).status, 403)
    }))
})

layer(server({ limitedFederation: true }), { excludeTestServices: true })("restricted mode", (it) => {
  it.effect("S-024 row 68: unsigned requests get only the server's own actor", () =>
    Effect.gen(function*() {
      const id = yield* person("gina")
      const note = yield* status(id, "hello")
      const paths = ["", "/outbox", "/followers", "/following", "/collections/featured", "/collections/tags"]
      const notes = ["", "/activity", "/replies", "/likes", "/shares"].map((part) => `/statuses/${note}${part}`)
      for (const path of [...paths, ...notes]) {
        assert.strictEqual((yield* documentAt(`/users/gina${path}`)).status, 401, path)
      }
      assert.strictEqual((yield* documentAt("/@gina")).status, 401)
      assert.strictEqual((yield* documentAt("/actor")).status, 200)
      for (const path of ["/.well-known/webfinger?resource=acct:gina@local.example", "/nodeinfo/2.0"]) {
        assert.strictEqual((yield* documentAt(path)).status, 200, path)
      }
      const sql = yield* SqlClient.SqlClient
      yield* sql`INSERT INTO custom_emojis (id, shortcode, file_name, static_name, created_at)
        VALUES (88, 'open', 'open.png', 'open.png', ${new Date(0)})`
      yield* Broadcast.use(({ publish }) => publish({ _tag: "Changed", kind: "emojis", ids: [88n] }))
      assert.strictEqual((yield* documentAt("/emojis/88")).status, 200)
    }))
})
