import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { normalise } from "../../../../src/services/html/HashtagNames.ts"
import { bounded } from "../../../../src/services/text/BoundedText.ts"
import { administratorBrowser } from "../../../support/AdministratorBrowser.ts"
import { ask, newPerson } from "../../../support/Api.ts"
import { TestServer } from "../../../support/Server.ts"

const total = (text: string) => /<p class="total">([^<]*) in total<\/p>/.exec(text)?.[1]
/** Returns the labels and counts of the tabs. */
const tabs = (text: string) =>
  [...(/<nav class="tabs".*?<\/nav>/s.exec(text)?.[0] ?? "").matchAll(
    /<a [^>]*>([^<]*?) ?(?:<span class="soft">([^<]*)<\/span>)?<\/a>/g
  )]
    .map(([, name = "", count]) => [name, count])

layer(TestServer.layer(), { excludeTestServices: true })("lists of staff", (it) => {
  it.effect("S-233: hashtags are counted up to ten thousand, found by prefix, and by decision", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { browser } = yield* administratorBrowser("counter")
      const read = Effect.fnUntraced(function*(search: string) {
        return (yield* browser.get(`/admin/tags${search}`)).text
      })
      const none = yield* read("")
      assert.isUndefined(total(none))
      yield* sql`INSERT INTO tags (id, name, display_name, created_at)
        SELECT n, 'tag' || n, 'Tag' || n, ${new Date()} FROM generate_series(1, 10000) n`
      const first = yield* read("")
      assert.strictEqual(total(first), "10,000")
      const next = /href="(\/admin\/tags\?max_id=[^"]*)" rel="next"/.exec(first)?.[1] ?? ""
      assert.strictEqual(total((yield* browser.get(next)).text), "10,000")
      yield* sql`INSERT INTO tags (id, name, display_name, created_at, trendable, usable, reviewed_at) VALUES
        (10001, ${normalise(bounded("Größe"))}, 'Größe', ${new Date()}, false, true, ${new Date(1)}),
        (10002, 'other', 'Other', ${new Date()}, NULL, false, ${new Date(1)})`
      assert.strictEqual(total(yield* read("")), "10,000+")
      // The name in any case, with and without #; SQL wildcards have no effect.
      for (const name of ["Größe", "%23GRÖ", "gr"]) assert.strictEqual(total(yield* read(`?name=${name}`)), "1", name)
      assert.strictEqual(total(yield* read("?name=tag999")), "11")
      assert.isUndefined(total(yield* read("?name=%25")))
      assert.isUndefined(total(yield* read("?name=_")))
      assert.strictEqual(total(yield* read("?state=unreviewed&name=tag1000")), "2")
      assert.include(yield* read("?state=refused"), "Größe")
      assert.strictEqual(total(yield* read("?state=unusable")), "1")
      assert.isUndefined(total(yield* read("?state=trendable")))
      // Filters are collapsed if unused, and open with their values if used.
      assert.match(yield* read("?state=refused"), /<details class="filtering"><summary>/)
      assert.match(yield* read("?state=refused&name=gr"), /<details class="filtering" open><summary>/)
    }))

  it.effect("tabs of lists show their counts", () =>
    Effect.gen(function*() {
      const { browser } = yield* administratorBrowser("tabber")
      const [bad, good] = [yield* newPerson("tabbed"), yield* newPerson("tabbing")]
      for (const comment of ["one", "two", "three"]) {
        yield* ask(good, "POST", "/api/v1/reports", { account_id: String(bad.accountId), comment })
      }
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE reports SET action_taken_at = ${new Date(0)} WHERE comment = 'two'`
      const { text } = yield* browser.get("/admin/reports")
      assert.deepStrictEqual(tabs(text), [["Open", "2"], ["Resolved", "1"], ["All", "3"]])
      assert.strictEqual(total(text), "2")
      assert.strictEqual(total((yield* browser.get("/admin/reports?state=all")).text), "3")
      assert.deepStrictEqual(
        tabs((yield* browser.get("/admin/reports?by_target_domain=else.test")).text).map(([, count]) => count),
        ["0", "0", "0"]
      )
      assert.deepStrictEqual(tabs((yield* browser.get("/admin/appeals")).text).map(([, count]) => count), [
        "0",
        "0",
        "0",
        "0"
      ])
    }))

  it.effect("S-232: all posts of an account and all links of a publisher may trend, or none, after an explanation", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, act, browser } = yield* administratorBrowser("trendsetter")
      const author = yield* newPerson("author")
      const write = (status: string) =>
        Effect.map(ask(author, "POST", "/api/v1/statuses", { status }), ({ body }) => BigInt(body.id))
      const ids = [yield* write("one"), yield* write("two")]
      yield* sql`INSERT INTO status_trends (status_id, score) SELECT unnest(${ids}::bigint[]), 1`
      const path = "/admin/trends?kind=statuses"
      const page = yield* browser.get(path)
      assert.include(page.text, `<a href="/admin/accounts/${author.accountId}">@author</a>`)
      assert.deepInclude(tabs(page.text), ["Posts", "2"])
      const asked = yield* browser.press(page, "approveAll", { "ids[]": String(ids[0]) })
      assert.include(asked.text, "Everything from @author can trend without review")
      const trendable = Effect.map(
        sql<{ trendable: boolean | null }>`SELECT trendable FROM accounts WHERE id = ${author.accountId}`,
        ([row]) => row?.trendable
      )
      assert.isNull(yield* trendable)
      assert.include(
        (yield* act(path, "approveAll", { "ids[]": String(ids[0]) })).text,
        "Everything from @author can trend."
      )
      assert.isTrue(yield* trendable)
      assert.include(
        (yield* act(path, "rejectAll", { "ids[]": String(ids[1]) })).text,
        "Nothing from @author can trend"
      )
      assert.isFalse(yield* trendable)
      assert.strictEqual((yield* browser.press(page, "approveAll")).status, 422)

      yield* sql`INSERT INTO preview_cards (id, url_key, url, site, created_at)
        VALUES (71, '71', 'https://news.example/1', 'news.example', ${new Date(0)})`
      const links = "/admin/trends?kind=links"
      // The button is shown if the list has entries; trending pages need more set-up than this test has.
      const token = /name="authenticity_token" value="([^"]*)"/.exec(page.text)?.[1] ?? ""
      const body = new URLSearchParams({
        act: "approveAll",
        confirmed: "yes",
        "ids[]": "71",
        authenticity_token: token
      })
      const { baseUrl } = yield* TestServer
      yield* browser.request(links, { method: "POST", body, headers: { origin: baseUrl } })
      const [site] = yield* sql<{ trendable: boolean }>`SELECT trendable FROM preview_card_providers
        WHERE site = 'news.example'`
      assert.isTrue(site?.trendable)
      const log = (yield* browser.get(`/admin/audit_log?account_id=${accountId}`)).text
      assert.include(log, "news.example")
    }))

  it.effect("S-022: an account's page names its sign-up app and its inviter", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { browser } = yield* administratorBrowser("receptionist")
      const [host, guest] = [yield* newPerson("hostess"), yield* newPerson("guest")]
      yield* sql`INSERT INTO oauth_apps (id, client_id, client_secret_hash, name, redirect_uris, scopes, created_at)
        VALUES (991, 'tusker', ''::bytea, 'Tusker <3', '{myapp://back}', 'read', ${new Date(0)})`
      yield* sql`INSERT INTO invites (id, code, account_id, created_at) VALUES (992, 'abcdefgh', ${host.accountId}, ${new Date(
        0
      )})`
      yield* sql`UPDATE users SET created_by_app_id = 991, invite_id = 992 WHERE account_id = ${guest.accountId}`
      const { text } = yield* browser.get(`/admin/accounts/${guest.accountId}`)
      assert.include(text, "Tusker &lt;3")
      assert.match(text, /Invited by<\/dt><dd><a class="account" href="[^"]*">.*?@hostess/s)
      const other = yield* browser.get(`/admin/accounts/${host.accountId}`)
      assert.notInclude(other.text, "Invited by")
    }))
})
