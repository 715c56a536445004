import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { eventually } from "../support/Eventually.ts"
import { fediverse, settled, type TestInstance, type TestUser } from "../support/Fediverse.ts"
import { picture } from "../support/MediaFiles.ts"
import { TestServer } from "../support/Server.ts"
import { staffBrowser } from "../support/StaffBrowser.ts"
import { formsOf, locationOf } from "../support/TestBrowser.ts"

// Tests read bodies of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Json = any

/** Opens a member's browser. */
const browserAt = ({ context }: TestInstance, person: TestUser) =>
  Effect.provideService(staffBrowser(person), TestServer, Context.get(context, TestServer))
type Browser = Effect.Success<ReturnType<typeof browserAt>>

const archives = "/settings/archives"

/** Starts an import in the browser; returns the page that leads to the other server. */
const begun = Effect.fnUntraced(function*(browser: Browser, address: string) {
  const page = yield* browser.get(archives)
  const sent = yield* browser.press(page, "live", { address })
  assert.strictEqual(sent.status, 303, sent.text)
  const at = (sent.headers.get("location") ?? "").split("#")[0]!
  return yield* eventually(
    Effect.map(browser.get(at), ({ text }) => ({ at, text })),
    ({ text }) => /Continue at |role="status">Failed/.test(text)
  )
})

/** Gives consent at the other server; returns the callback's path and query. */
const consented = Effect.fnUntraced(function*(there: Browser, text: string) {
  const [, href = ""] = /<a class="button" href="([^"]*\/oauth\/authorize[^"]*)"/.exec(text) ?? []
  const url = new URL(href.replaceAll("&amp;", "&"))
  const page = yield* there.get(url.pathname + url.search)
  assert.include(page.text, "Copy your posts to another server")
  const response = yield* there.submit(page)
  assert.strictEqual(response.status, 302, response.text)
  return { consent: url, back: locationOf(response) }
})

const finished = (browser: Browser, at: string, wanted: RegExp) =>
  eventually(browser.get(at), ({ text }) => wanted.test(text))

/** Returns the posts of an account, oldest first. */
const postsOf = (user: TestUser): Effect.Effect<ReadonlyArray<Json>> =>
  Effect.map(
    user.ask("GET", `/api/v1/accounts/${user.accountId}/statuses?limit=40`),
    (all: ReadonlyArray<Json>) => all.toReversed()
  )

it.live(
  "an account is copied from one server to another: consent, plan, posts with files, follows and blocks, undo",
  () =>
    Effect.gen(function*() {
      const [first, second] = yield* fediverse(2)
      const [anna, friend, foe] = [
        yield* first!.person("anna"),
        yield* first!.person("friend"),
        yield* first!.person("foe")
      ]
      const [mia, fan] = [yield* second!.person("mia"), yield* first!.person("fan")]
      const image = yield* Effect.promise(() => picture().png().toBuffer())
      const body = new FormData()
      body.set("file", new Blob([new Uint8Array(image)]), "photo.png")
      body.set("description", "A square")
      const uploaded = yield* first!.fetch("/api/v1/media", { method: "POST", body, token: anna.token })
      const { id: media } = yield* Effect.promise((): Promise<Json> => uploaded.json())
      const root = yield* anna.post("the first #old", { spoiler_text: "warning" })
      yield* anna.post("a reply", { in_reply_to_id: root.id })
      yield* anna.post("with a picture", { media_ids: [media] })
      yield* anna.post("for followers", { visibility: "private" })
      yield* anna.post("a secret @friend", { visibility: "direct" })
      yield* anna.post("stays there", { local_only: true })
      for (let n = 0; n < 45; n++) yield* anna.post(`number ${n}`)
      const [friends, foes] = [yield* anna.find(friend), yield* anna.find(foe)]
      yield* anna.ask("POST", `/api/v1/accounts/${friends.id}/follow`, {})
      yield* anna.ask("POST", `/api/v1/accounts/${foes.id}/block`, {})
      const liked: Array<string> = []
      for (let n = 0; n < 3; n++) {
        const post = yield* friend.post(`liked ${n}`)
        yield* anna.ask("POST", `/api/v1/statuses/${post.id}/favourite`, {})
        liked.unshift(post.uri)
      }
      yield* fan.follow(mia)
      yield* settled([first!, second!])

      const [here, there] = [yield* browserAt(second!, mia), yield* browserAt(first!, anna)]
      const { at, text } = yield* begun(here, anna.handle)
      const { back, consent } = yield* consented(there, text)
      assert.strictEqual(consent.searchParams.get("scope"), "activitypub_account_portability")
      assert.strictEqual(back.searchParams.get("activitypub_actor"), anna.uri)
      assert.strictEqual(back.origin, second!.origin)

      // Another member, or another state, cannot open it.
      const eve = yield* browserAt(second!, yield* second!.person("eve"))
      assert.strictEqual((yield* eve.get(back.pathname + back.search)).status, 404)
      const wrong = new URL(back)
      wrong.searchParams.set("state", `${back.searchParams.get("state")}x`)
      assert.strictEqual((yield* here.get(wrong.pathname + wrong.search)).status, 404)
      const returned = yield* here.get(back.pathname + back.search)
      assert.strictEqual(returned.status, 302)

      const plan = yield* finished(here, at, /Start import/)
      for (const line of ["50 posts are added.", "1 file is added.", "Follow 1 account that", "Block 1 account that"]) {
        assert.include(plan.text, line)
      }
      assert.lengthOf(yield* postsOf(mia), 0)
      // The token is encrypted.
      const [stored] = yield* second!.sql`SELECT options::text AS options FROM transfers WHERE kind = 'live_in'`
      assert.include(String(stored!["options"]), "\"secrets\"")
      assert.notInclude(String(stored!["options"]), back.searchParams.get("code")!)
      yield* here.press(plan, "confirm", { follows: "1", blocks: "1", likes: "1" })
      yield* finished(here, at, /role="status">Finished/)

      const posts = yield* eventually(postsOf(mia), (all) => all.length === 40)
      assert.include(posts.at(-1).content, "number 44")
      const rows = yield* second!.sql<{ visibility: string; text: string; imported: boolean; reply: boolean }>`
        SELECT visibility, text, imported, in_reply_to_id IS NOT NULL AS reply FROM statuses
        WHERE account_id = ${mia.accountId} ORDER BY id`
      assert.lengthOf(rows, 50)
      assert.isTrue(rows.every(({ imported }) => imported))
      assert.deepStrictEqual(
        rows.slice(0, 5).map(({ reply, visibility }) => [visibility, reply]),
        [["public", false], ["public", true], ["public", false], ["private", false], ["direct", false]]
      )
      assert.notInclude(JSON.stringify(rows), "stays there")
      const pictured = yield* eventually(
        second!.sql`SELECT m.description, m.state FROM media_attachments m JOIN statuses s ON s.id = m.status_id
          WHERE s.account_id = ${mia.accountId}`,
        ([row]) => row?.["state"] === "ready"
      )
      assert.deepInclude(pictured[0], { description: "A square" })
      yield* eventually(mia.relationship(friend), ({ following, requested }) => following || requested)
      yield* eventually(mia.relationship(foe), ({ blocking }) => blocking)
      // Favourites keep their order; nobody is told of them, and the numbers of both servers agree.
      const favourites: ReadonlyArray<Json> = yield* eventually(
        mia.ask("GET", "/api/v1/favourites"),
        (all) => all.length === liked.length
      )
      assert.deepStrictEqual(favourites.map(({ uri }) => uri), liked)
      assert.isFalse((yield* friend.notifications).includes("favourite mia"))
      const numbers = (of: TestInstance, { accountId }: TestUser) =>
        of.sql`SELECT (SELECT count(*)::int FROM follows WHERE account_id = ${accountId}) AS following,
          (SELECT count(*)::int FROM blocks WHERE account_id = ${accountId}) AS blocked,
          (SELECT count(*)::int FROM favourites WHERE account_id = ${accountId}) AS liked,
          (SELECT count(*)::int FROM statuses WHERE account_id = ${accountId} AND NOT local_only) AS posts`
      const there1 = yield* numbers(first!, anna)
      assert.deepStrictEqual(there1, [{ following: 1, blocked: 1, liked: 3, posts: 50 }])
      yield* eventually(numbers(second!, mia), (now) => JSON.stringify(now) === JSON.stringify(there1))
      // The import has ended: no secret is left, and the other server no longer accepts the token.
      const [done] = yield* second!.sql`SELECT options::text AS options FROM transfers WHERE kind = 'live_in'`
      assert.notInclude(String(done!["options"]), "\"secrets\"")
      yield* eventually(
        first!.sql`SELECT FROM oauth_tokens WHERE scopes = 'activitypub_account_portability' AND revoked_at IS NULL`,
        (left) => left.length === 0
      )

      // Nothing was federated; deleting an imported post is not federated either.
      yield* settled([first!, second!])
      const [gone] = rows.length > 0 ? yield* postsOf(mia) : []
      yield* mia.ask("DELETE", `/api/v1/statuses/${gone.id}`)
      yield* settled([first!, second!])
      const sent = yield* second!.sql<{ type: string }>`SELECT DISTINCT type FROM outgoing_activities ORDER BY type`
      assert.deepStrictEqual(sent.map(({ type }) => type), ["Accept", "Block", "Follow"])

      // A second import asks for consent again, and adds nothing twice.
      const again = yield* begun(here, anna.uri)
      const second2 = yield* consented(there, again.text)
      yield* here.get(second2.back.pathname + second2.back.search)
      const known = yield* finished(here, again.at, /Start import/)
      assert.include(known.text, "0 posts are added.")
      yield* here.press(known, "cancel")

      const page = yield* here.get(at)
      assert.include(formsOf(page).flatMap(({ acts }) => acts), "undo")
      const undone = yield* here.press(page, "undo")
      yield* finished(here, (undone.headers.get("location") ?? "").split("#")[0]!, /role="status">Finished/)
      assert.lengthOf(yield* postsOf(mia), 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)
