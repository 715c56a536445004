import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { RemotePosts } from "../../../../src/services/federation/fetching/RemotePosts.ts"
import { type Json, type Peer, peer } from "../Peer.ts"
import { fetching, noteOf, serve, statusesHere, timesAsked } from "./Fetching.ts"

const find = (uri: string) => RemotePosts.use((posts) => posts.find(uri))
const refused = (uri: string) => Effect.map(Effect.flip(find(uri)), ({ _tag, message }) => `${_tag}: ${message}`)

layer(fetching, { excludeTestServices: true })("fetching a post", (it) => {
  it.effect("S-009: concurrent callers store it once, with its author, and do not fetch it again", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const zoe = yield* there.actor("zoe")
      const id = serve(there, noteOf(zoe.id, "one", { content: "<p>hi<script>x()</script></p>" }))
      const asked = yield* Effect.all(Array.from({ length: 20 }, () => find(id)), { concurrency: "unbounded" })
      assert.strictEqual(new Set(asked).size, 1)
      assert.strictEqual(yield* find(id), asked[0])
      assert.strictEqual(timesAsked(there, id), 1)
      const sql = yield* SqlClient.SqlClient
      const rows =
        yield* sql`SELECT s.html, s.visibility, a.uri AS author FROM statuses s JOIN accounts a ON a.id = s.account_id
        WHERE s.uri = ${id}`
      assert.deepStrictEqual<unknown>(rows, [{ html: "<p>hi</p>", visibility: "public", author: zoe.id }])
    }))

  it.effect("interrupting the first caller does not affect the others", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const yan = yield* there.actor("yan")
      const note = noteOf(yan.id, "slow")
      const asked = yield* Deferred.make<() => void>()
      there.documents.set(new URL(note.id).pathname, (_, response) => {
        Effect.runSync(Deferred.succeed(asked, () => {
          response.writeHead(200, { "content-type": "application/activity+json" }).end(JSON.stringify(note))
        }))
      })
      const first = yield* Effect.forkChild(find(note.id))
      const reply = yield* Deferred.await(asked)
      const second = yield* Effect.forkChild(find(note.id), { startImmediately: true })
      first.interruptUnsafe()
      reply()
      assert.isTrue((yield* Fiber.join(second)) > 0n)
      assert.strictEqual(timesAsked(there, note.id), 1)
    }))

  it.effect("row 1: a server's claims about foreign accounts are not trusted, on any path", () =>
    Effect.gen(function*() {
      const [honest, evil] = [yield* peer, yield* peer]
      const [victim, thief] = [yield* honest.actor("victim"), yield* evil.actor("thief")]
      const forged = noteOf(victim.id, "forged")
      const place = (at: string, document: Json) => {
        evil.documents.set(at, document)
        return `${evil.url}${at}`
      }
      const to = (path: string, location: string) => {
        evil.documents.set(path, (_, response) => response.writeHead(302, { location }).end())
        return `${evil.url}${path}`
      }
      const served = place("/forged", forged)
      const attempts = [
        served,
        to("/redirect", served),
        // A note under its own id, with another account as the author.
        place("/users/thief/notes/1", noteOf(thief.id, "1", { attributedTo: victim.id })),
        place("/users/thief/notes/2", noteOf(thief.id, "2", { attributedTo: undefined, actor: victim.id })),
        // A Create of its own about a post that is not its own.
        place("/users/thief/creates/1", {
          "@context": "https://www.w3.org/ns/activitystreams",
          id: `${thief.id}/creates/1`,
          type: "Create",
          actor: thief.id,
          object: forged
        })
      ]
      for (const attempt of attempts) {
        assert.match(yield* refused(attempt), /^(Implausible|ErrorResponse)/, attempt)
      }
      assert.notInclude(yield* statusesHere, forged.id)
      // A post behind a redirect of the victim's server belongs to the victim.
      const real = serve(honest, noteOf(victim.id, "real"))
      assert.isTrue((yield* find(to("/to-real", real))) > 0n)
      assert.include(yield* statusesHere, real)
    }))

  it.effect("row 7: of an activity only its object's own document counts, even if documents change in between", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const [xena, other] = [yield* there.actor("xena"), yield* there.actor("other")]
      const note = noteOf(xena.id, "real")
      serve(there, note)
      const create: Json & { id: string } = {
        "@context": "https://www.w3.org/ns/activitystreams",
        id: `${xena.id}/creates/1`,
        type: "Create",
        actor: other.id,
        object: { ...note, content: "forged", attributedTo: other.id }
      }
      const statusId = yield* find(serve(there, create))
      const sql = yield* SqlClient.SqlClient
      const rows =
        yield* sql`SELECT s.html, a.uri FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE s.id = ${statusId}`
      assert.deepStrictEqual<unknown>(rows, [{ html: "<p>real</p>", uri: xena.id }])
      // A document that is a post the first time and another object the second time is fetched once, and then again as
      // that object.
      const turning = noteOf(xena.id, "turning")
      let times = 0
      there.documents.set(new URL(turning.id).pathname, (_, response) => {
        const shown = times++ === 0 ? { ...create, id: turning.id, object: turning.id } : turning
        response.writeHead(200, { "content-type": "application/activity+json" }).end(JSON.stringify(shown))
      })
      assert.match(yield* refused(turning.id), /redirects/)
    }))

  it.effect("row 10: a post that its author deleted is not fetched again, nor is an unknown one with a deleted id", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const wim = yield* there.actor("wim")
      const id = serve(there, noteOf(wim.id, "gone"))
      const other = serve(there, noteOf(wim.id, "never"))
      const sql = yield* SqlClient.SqlClient
      const statusId = yield* find(id)
      yield* sql`UPDATE statuses SET deleted_at = created_at WHERE id = ${statusId}`
      yield* sql`INSERT INTO tombstones (uri, account_id, deleted_at)
        SELECT u, account_id, created_at FROM statuses, unnest(${[id, other]}::text[]) u WHERE id = ${statusId}`
      for (const uri of [id, other]) {
        assert.match(yield* refused(uri), /deleted/)
        assert.match(
          (yield* Effect.flip(RemotePosts.use((posts) => posts.refresh(uri, { asked: true })))).message,
          /deleted|here/
        )
      }
      assert.notInclude(yield* statusesHere, id)
    }))

  it.effect("an edit is applied, and a non-public post that concerns no local account is not stored", () =>
    Effect.gen(function*() {
      const there: Peer = yield* peer
      const vic = yield* there.actor("vic")
      const published = new Date(Date.now() - 3_600_000).toISOString()
      const note = noteOf(vic.id, "edited", { published })
      const statusId = yield* find(serve(there, note))
      serve(there, { ...note, content: "<p>newer</p>", updated: new Date().toISOString() })
      assert.strictEqual(
        (yield* RemotePosts.use((posts) => posts.refresh(note.id, { asked: true }))).statusId,
        statusId
      )
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`SELECT html FROM statuses WHERE id = ${statusId}`
      assert.deepStrictEqual<unknown>(rows, [{ html: "<p>newer</p>" }])
      const few = [
        noteOf(vic.id, "private", { to: [`${vic.id}/followers`], cc: [] }),
        noteOf(vic.id, "direct", { to: [`${vic.id}x`], cc: [] })
      ]
      for (const post of few) assert.match(yield* refused(serve(there, post)), /irrelevant to local accounts/)
    }))
})
