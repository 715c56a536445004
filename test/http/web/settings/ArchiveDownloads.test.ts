import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, newPerson, publish } from "../../../support/Api.ts"
import { eventually } from "../../../support/Eventually.ts"
import { picture, uploaded } from "../../../support/MediaFiles.ts"
import { TestServer } from "../../../support/Server.ts"
import { staffMember } from "../../../support/Staff.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"
import { formsOf } from "../../../support/TestBrowser.ts"

const path = "/settings/archives"

type Browser = Effect.Success<ReturnType<typeof staffBrowser>>

const cookieOf = ({ cookies }: Browser) => [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")

/** Requests an archive in a browser, and returns the path of its download once it is written. */
const archived = Effect.fnUntraced(function*(browser: Browser, known: ReadonlyArray<string> = []) {
  assert.strictEqual((yield* browser.press(yield* browser.get(path), "request")).status, 303)
  const links = Effect.map(
    browser.get(path),
    ({ text }) => [...text.matchAll(/href="([^"]+\/download)"/g)].map(([, at = ""]) => at)
  )
  const [newest = ""] = yield* eventually(links, ([first]) => first !== undefined && !known.includes(first))
  return newest
})

/** Creates a member with a post and pictures, whose archive has several parts. */
const opened = Effect.fnUntraced(function*(name: string) {
  const person = yield* newPerson(name)
  const browser = yield* staffBrowser(person)
  const image = yield* Effect.promise(() => picture().png().toBuffer())
  const media = [yield* uploaded(person, image), yield* uploaded(person, image)]
  yield* publish(person, "with pictures", { media_ids: media.map(({ id }) => id) })
  return { person, browser, at: yield* archived(browser) }
})

/** Downloads with the cookies of a browser, or with other ones. */
const download = Effect.fnUntraced(
  function*(at: string, from: Browser | string, headers: Readonly<Record<string, string>> = {}, method = "GET") {
    const { fetch } = yield* TestServer
    const cookie = typeof from === "string" ? from : cookieOf(from)
    const response = yield* fetch(at, { method, headers: { cookie, ...headers }, redirect: "manual" })
    const bytes = new Uint8Array(yield* Effect.promise(() => response.arrayBuffer()))
    return { status: response.status, header: (name: string) => response.headers.get(name), bytes }
  }
)

/** Asserts that a response has nothing of an archive. */
const assertNoArchive = ({ bytes, header }: Effect.Success<ReturnType<typeof download>>) => {
  assert.notStrictEqual(header("content-type"), "application/zip")
  assert.strictEqual(header("content-range"), null)
  assert.notInclude(Buffer.from(bytes).toString("latin1"), "PK\x03\x04")
}

layer(TestServer.layer(), { excludeTestServices: true })("downloads of archives", (it) => {
  it.effect("a download that was interrupted anywhere is resumed by a range to the same bytes", () =>
    Effect.gen(function*() {
      const { at, browser } = yield* opened("ada")
      const sql = yield* SqlClient.SqlClient
      const whole = yield* download(at, browser)
      assert.deepStrictEqual([whole.status, whole.header("accept-ranges")], [200, "bytes"])
      const size = whole.bytes.length
      const parts = yield* sql<{ bytes: bigint }>`SELECT bytes FROM archive_parts ORDER BY place`
      assert.isAtLeast(parts.length, 4)
      let end = 0
      const ends = parts.map(({ bytes }) => end += Number(bytes))
      assert.strictEqual(end, size)
      // Within, at and around the boundaries of the stored parts.
      const places = [1, size - 1, ...ends.flatMap((place) => [place - 1, place, place + 1])]
      const condition = { "if-range": whole.header("etag") ?? "" }
      for (const place of places.filter((one) => one > 0 && one < size)) {
        const rest = yield* download(at, browser, { range: `bytes=${place}-`, ...condition })
        assert.deepStrictEqual(
          [rest.status, rest.header("content-range"), rest.header("content-length")],
          [206, `bytes ${place}-${size - 1}/${size}`, String(size - place)]
        )
        assert.deepStrictEqual(rest.bytes, whole.bytes.subarray(place))
      }
      const last = yield* download(at, browser, { range: "bytes=-22" })
      assert.deepStrictEqual([last.status, last.bytes], [206, whole.bytes.subarray(size - 22)])
      const beyond = yield* download(at, browser, { range: `bytes=${size}-` })
      assert.deepStrictEqual(
        [beyond.status, beyond.header("content-range"), beyond.bytes.length],
        [416, `bytes */${size}`, 0]
      )
      // Several ranges get the whole archive, which RFC 9110 allows.
      const several = yield* download(at, browser, { range: "bytes=0-1,5-6" })
      assert.deepStrictEqual([several.status, several.bytes.length], [200, size])
      const other = yield* download(at, browser, { range: "bytes=5-", "if-range": `"1"` })
      assert.deepStrictEqual([other.status, other.bytes.length], [200, size])
      const head = yield* download(at, browser, {}, "HEAD")
      assert.deepStrictEqual(
        [head.status, head.header("content-length"), head.header("etag"), head.bytes.length],
        [200, String(size), whole.header("etag"), 0]
      )
    }))

  it.effect("an archive that a newer one replaced is not found, also by a range and by its tag", () =>
    Effect.gen(function*() {
      const { at, browser, person } = yield* opened("bob")
      const sql = yield* SqlClient.SqlClient
      const before = yield* download(at, browser)
      yield* sql`UPDATE transfers SET created_at = created_at - interval '8 days' WHERE account_id = ${person.accountId}`
      yield* publish(person, "another post")
      const next = yield* archived(browser, [at])
      const tag = before.header("etag") ?? ""
      for (const headers of [{}, { range: "bytes=5-", "if-range": tag }, { "if-none-match": tag }]) {
        const gone = yield* download(at, browser, headers)
        assert.strictEqual(gone.status, 404)
        assertNoArchive(gone)
      }
      // A client that resumes the old download at the new link gets the whole new archive.
      const resumed = yield* download(next, browser, { range: "bytes=5-", "if-range": tag })
      assert.strictEqual(resumed.status, 200)
      assert.notStrictEqual(resumed.header("etag"), tag)
      assert.deepStrictEqual([...resumed.bytes.subarray(0, 2)], [0x50, 0x4b])
    }))

  it.effect("no range of an archive is sent to another member, without a session, or after it ended", () =>
    Effect.gen(function*() {
      const { at, browser, person } = yield* opened("cleo")
      const other = yield* staffBrowser(yield* newPerson("dora"))
      const tag = (yield* download(at, browser)).header("etag") ?? ""
      const kept = cookieOf(browser)
      const second = yield* staffBrowser(person)
      const conditions = [{}, { range: "bytes=0-9" }, { range: "bytes=999999999-" }, { "if-none-match": tag }]
      const refused = Effect.fnUntraced(function*(from: Browser | string, status: number) {
        for (const headers of conditions) {
          const response = yield* download(at, from, headers)
          assert.strictEqual(response.status, status, JSON.stringify(headers))
          assertNoArchive(response)
        }
      })
      yield* refused(other, 404)
      yield* refused("", 302)
      // A token of an app is no session.
      const { fetch } = yield* TestServer
      const byToken = yield* fetch(at, { headers: { authorization: `Bearer ${person.token}` }, redirect: "manual" })
      assert.strictEqual(byToken.status, 302)
      const sql = yield* SqlClient.SqlClient
      const sessions = Effect.map(
        sql`SELECT FROM sessions WHERE account_id = ${person.accountId}`,
        ({ length }) => length
      )
      assert.strictEqual(yield* sessions, 2)
      const page = yield* browser.get("/settings/account")
      const index = formsOf(page).findIndex(({ action }) => action === "/auth/sign_out")
      yield* browser.submit(page, {}, index)
      assert.strictEqual(yield* sessions, 1)
      yield* refused(kept, 302)
      assert.strictEqual((yield* download(at, second)).status, 200)
    }))

  it.effect("the link of an archive ends while its account is suspended, and when it is deleted", () =>
    Effect.gen(function*() {
      const { at, browser, person } = yield* opened("eve")
      const admin = yield* staffMember("mod1", ["manageUsers", "deleteUserData"])
      const account = `/api/v1/admin/accounts/${person.accountId}`
      assert.strictEqual((yield* ask(admin, "POST", `${account}/action`, { type: "suspend" })).status, 200)
      const refused = yield* eventually(download(at, browser, { range: "bytes=0-9" }), ({ status }) => status !== 206)
      assertNoArchive(refused)
      assert.include([302, 403], refused.status)
      assert.strictEqual((yield* ask(admin, "POST", `${account}/unsuspend`, {})).status, 200)
      const again = yield* staffBrowser(person)
      assert.strictEqual((yield* download(at, again)).status, 200)
      assert.strictEqual((yield* ask(admin, "POST", `${account}/action`, { type: "suspend" })).status, 200)
      assert.strictEqual((yield* ask(admin, "DELETE", account)).status, 200)
      const sql = yield* SqlClient.SqlClient
      yield* eventually(
        sql`SELECT FROM transfers WHERE account_id = ${person.accountId}`,
        (transfers) => transfers.length === 0
      )
      const deleted = yield* download(at, again)
      assertNoArchive(deleted)
      assert.include([302, 403, 404], deleted.status)
    }))
})
