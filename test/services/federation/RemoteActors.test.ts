import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import {
  aliasesMax,
  fieldCharactersMax,
  fieldsMax,
  nameCharactersMax,
  usernameCharactersMax
} from "../../../src/services/federation/documents/ForeignActor.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { activityJson, sendJson } from "../outbound/FarHosts.ts"
import { peer, remote } from "./Peer.ts"

interface Row {
  readonly username: string
  readonly domain: string
  readonly displayName: string
  readonly noteHtml: string
  readonly url: string
  readonly fields: ReadonlyArray<{ name: string; value: string }>
  readonly suspendedAt: Date | null
  readonly followersUrl: string | null
  readonly sharedInboxUrl: string | null
  readonly alsoKnownAs: ReadonlyArray<string>
}

const find = (uri: string) => RemoteActors.use(({ find }) => find(uri))
const refresh = (uri: string) => RemoteActors.use(({ refresh }) => refresh(uri))
const row = (uri: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql<Row>`SELECT a.*, r.followers_url, r.shared_inbox_url, r.also_known_as
      FROM accounts a JOIN remote_actors r ON r.account_id = a.id WHERE a.uri = ${uri}`).pipe(
      Effect.map(([found]) => found)
    )
const known = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ count: number }>`SELECT count(*)::int AS count FROM accounts`
).pipe(Effect.map(([found]) => found?.count))

layer(remote, { excludeTestServices: true })("accounts of other servers", (it) => {
  it.effect("S-009: are fetched once, with a signature of the server's own actor, stored and then known", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const { id } = yield* there.actor("anna", { name: "Anna", summary: "<p>hi<script>x</script></p>" })
      const account = yield* find(id)
      assert.strictEqual(account.uri, id)
      assert.deepInclude(yield* row(id), {
        username: "anna",
        domain: there.domain,
        displayName: "Anna",
        noteHtml: "<p>hi</p>",
        followersUrl: `${id}/followers`,
        sharedInboxUrl: `${there.url}/inbox`
      })
      const [asked] = there.requests
      assert.match(asked?.headers["signature"]?.toString() ?? "", /keyId="https:\/\/local\.example\/actor#main-key"/)
      const before = there.requests.length
      assert.strictEqual((yield* find(id)).id, account.id)
      assert.strictEqual(there.requests.length, before)
      assert.strictEqual((yield* RemoteActors.use((all) => all.findByHandle(`@anna@${there.domain}`))).id, account.id)
    }))

  it.effect("concurrent callers share one fetch, and the first caller may be interrupted", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const { id } = yield* there.actor("bea")
      const document = there.documents.get("/users/bea")
      const asked = yield* Deferred.make<void>()
      let reply = () => {}
      let count = 0
      there.documents.set("/users/bea", (_, response) => {
        count++
        reply = () => sendJson(response, document)
        Deferred.doneUnsafe(asked, Effect.void)
      })
      const first = yield* Effect.forkChild(find(id))
      yield* Deferred.await(asked)
      const others = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 50 }, () => refresh(id)), { concurrency: 50 })
      )
      yield* Fiber.interrupt(first)
      reply()
      assert.strictEqual(new Set((yield* Fiber.join(others)).map((account) => account.id)).size, 1)
      assert.strictEqual(count, 1)
    }))

  it.effect("row 1: a document is trusted only at its own address, however it was found", () =>
    Effect.gen(function*() {
      const [good, evil] = [yield* peer, yield* peer]
      const victim = yield* good.actor("victim")
      const forged = { ...(good.documents.get("/users/victim") as object), name: "forged" }
      const before = yield* known
      good.documents.delete("/users/victim")
      evil.documents.set("/direct", forged)
      evil.documents.set(
        "/redirect",
        (_, response) => response.writeHead(302, { location: `${evil.url}/direct` }).end()
      )
      evil.documents.set("/other", { ...forged, id: `${evil.url}/elsewhere` })
      evil.documents.set("/elsewhere", { ...forged, id: `${evil.url}/other` })
      evil.documents.set("/none", { ...forged, id: undefined })
      evil.documents.set("/port", { ...forged, id: `http://127.0.0.1:1/users/victim` })
      for (const path of ["/direct", "/redirect", "/other", "/none", "/port"]) {
        yield* Effect.flip(find(evil.url + path))
      }
      assert.isUndefined(yield* row(victim.id))
      assert.strictEqual(yield* known, before)
      // An honest document at another address leads to its id, from which it is fetched.
      const honest = yield* good.actor("honest")
      good.documents.set("/@honest", good.documents.get("/users/honest")!)
      assert.strictEqual((yield* find(`${good.url}/@honest`)).uri, honest.id)
    }))

  it.effect("row 5: a document with another content type is refused", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const { id } = yield* there.actor("cora")
      const document = JSON.stringify(there.documents.get("/users/cora"))
      for (const type of ["text/plain", "image/png", "application/json", "application/octet-stream", "text/html"]) {
        there.documents.set("/users/cora", (_, response) =>
          response.writeHead(200, { "content-type": type }).end(document))
        assert.deepInclude(yield* Effect.flip(find(id)), { _tag: "Refused", rule: "type" })
      }
    }))

  it.effect("row 33: contexts are names and never fetched; an object needs that of ActivityStreams", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const contexts = Array.from({ length: 200 }, (_, n) => `${there.url}/context/${n}`)
      const { id } = yield* there.actor("dina", { "@context": ["https://www.w3.org/ns/activitystreams", ...contexts] })
      yield* find(id)
      assert.isEmpty(there.requests.filter(({ url }) => url?.startsWith("/context")))
      const { id: other } = yield* there.actor("dino", { "@context": "https://example.org/ns" })
      assert.strictEqual((yield* Effect.flip(find(other)))._tag, "Implausible")
    }))

  it.effect("row 12: a handle is valid if its domain confirms it, in both directions", () =>
    Effect.gen(function*() {
      const [web, local, evil] = [yield* peer, yield* peer, yield* peer]
      // Split domain: the actor is on one host, its handle in the domain of another, which confirms it.
      const split = yield* web.actor("eve")
      const finger = web.finger("eve", split.id, `acct:eve@${local.domain}`)
      web.fingers.set(`acct:eve@${web.domain}`, finger)
      local.fingers.set(`acct:eve@${local.domain}`, finger)
      yield* find(split.id)
      assert.strictEqual((yield* row(split.id))?.domain, local.domain)
      // A domain that does not know the account, names another, or responds for another name.
      const forger = yield* evil.actor("fred")
      const unconfirmed = () =>
        Effect.map(row(forger.id), (found) => assert.strictEqual(found?.domain, "handle.invalid"))
      evil.fingers.set(`acct:fred@${evil.domain}`, evil.finger("fred", forger.id, `acct:admin@${local.domain}`))
      yield* refresh(forger.id)
      yield* unconfirmed()
      local.fingers.set(`acct:admin@${local.domain}`, local.finger("admin", `${local.url}/users/admin`))
      yield* refresh(forger.id)
      yield* unconfirmed()
      evil.fingers.set(`acct:fred@${evil.domain}`, evil.finger("fred", split.id))
      yield* refresh(forger.id)
      yield* unconfirmed()
      evil.fingers.set(`acct:fred@${evil.domain}`, evil.finger("fred", forger.id, "acct:anna@local.example"))
      yield* refresh(forger.id)
      yield* unconfirmed()
      evil.fingers.delete(`acct:fred@${evil.domain}`)
      yield* refresh(forger.id)
      yield* unconfirmed()
      evil.fingers.set(`acct:fred@${evil.domain}`, evil.finger("fred", forger.id))
      yield* refresh(forger.id)
      assert.deepInclude(yield* row(forger.id), { username: "fred", domain: evil.domain })
    }))

  it.effect("row 39 D-026: long values are cut or dropped", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const field = { type: "PropertyValue", name: "n".repeat(5_000), value: "v".repeat(5_000) }
      const { id } = yield* there.actor("gus", {
        name: "e".repeat(nameCharactersMax + 1),
        attachment: [field, ...Array.from({ length: fieldsMax }, () => ({ ...field, name: "n", value: "v" }))],
        alsoKnownAs: Array.from({ length: aliasesMax + 1 }, (_, n) => `${there.url}/${n}`)
      })
      yield* find(id)
      const stored = yield* row(id)
      assert.strictEqual(stored?.displayName.length, nameCharactersMax)
      assert.strictEqual(stored?.fields.length, fieldsMax)
      assert.strictEqual(stored?.fields[0]?.value.length, fieldCharactersMax)
      assert.strictEqual(stored?.alsoKnownAs.length, aliasesMax)
      const wide = yield* find((yield* there.actor("gert", { name: "é".repeat(nameCharactersMax) })).id)
      assert.strictEqual((yield* row(wide.uri))?.displayName.length, nameCharactersMax / 2)
      const long = yield* there.actor("h".repeat(usernameCharactersMax + 1))
      yield* Effect.flip(find(long.id))
    }))

  const schemes =
    "javascript:alert(1) data:text/html,x file:///etc/passwd gopher://x/ ftp://x/ http://8.8.8.8/ //x mailto:a@b"
      .split(" ")
  it.effect("row 14: forbidden addresses are left out, or the actor is refused", () =>
    Effect.gen(function*() {
      const there = yield* peer
      for (const [index, bad] of schemes.entries()) {
        const { id } = yield* there.actor(`ida${index}`, {
          url: bad,
          followers: bad,
          endpoints: { sharedInbox: bad },
          alsoKnownAs: bad
        })
        yield* find(id)
        assert.deepInclude(yield* row(id), { url: id, followersUrl: null, sharedInboxUrl: null, alsoKnownAs: [] })
        const { id: without } = yield* there.actor(`jo${index}`, { inbox: bad })
        assert.strictEqual((yield* Effect.flip(find(without)))._tag, "Implausible")
      }
      const { id } = yield* there.actor("kim", {
        followers: "https://elsewhere.test/followers",
        url: "https://elsewhere.test/kim"
      })
      yield* find(id)
      assert.deepInclude(yield* row(id), { followersUrl: null, url: id })
    }))

  it.effect("S-014: a suspension by its own server follows the document; a local one stays", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const { id } = yield* there.actor("lea", { suspended: true })
      yield* find(id)
      assert.isNotNull((yield* row(id))?.suspendedAt)
      yield* there.actor("lea")
      yield* refresh(id)
      assert.isNull((yield* row(id))?.suspendedAt)
      yield* SqlClient.SqlClient.use((sql) => sql`UPDATE accounts SET suspended_at = ${new Date()} WHERE uri = ${id}`)
      yield* refresh(id)
      assert.isNotNull((yield* row(id))?.suspendedAt)
    }))

  it.effect("other types, names and responses are not accounts", () =>
    Effect.gen(function*() {
      const there = yield* peer
      for (
        const more of [{ type: "Note" }, { type: ["Create"] }, { preferredUsername: "a/b" }, { preferredUsername: 7 }]
      ) {
        const { id } = yield* there.actor("mia", more)
        yield* Effect.flip(find(id))
      }
      there.documents.set("/list", (_, response) => response.writeHead(200, activityJson).end("[1]"))
      yield* Effect.flip(find(`${there.url}/list`))
      assert.strictEqual((yield* Effect.flip(find("https://local.example/users/anna")))._tag, "Implausible")
      assert.strictEqual(
        (yield* Effect.flip(RemoteActors.use((all) => all.findByHandle("a@local.example"))))._tag,
        "Implausible"
      )
    }))
})
