import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import sharp from "sharp"
import { administratorBrowser } from "../../../support/AdministratorBrowser.ts"
import { blob, form, picture } from "../../../support/MediaFiles.ts"
import { TestServer } from "../../../support/Server.ts"
import { auditEntries, staffMember } from "../../../support/Staff.ts"
import { staffBrowser } from "../../../support/StaffBrowser.ts"

layer(TestServer.layer(), { excludeTestServices: true })("settings pages", (it) => {
  it.effect("S-235: rules are added, ordered, translated, removed, and restored", () =>
    Effect.gen(function*() {
      const { act, browser, undo, accountId } = yield* administratorBrowser("lawgiver")
      yield* act("/admin/rules", "add", { text: "Be kind", hint: "To all" })
      const two = yield* act("/admin/rules", "add", { text: "Be <b>brief</b>" })
      assert.include(two.text, "Be &lt;b&gt;brief")
      const [one = "", other = ""] = [...two.text.matchAll(/\/admin\/rules\/(\d+)"/g)].map(([, id = ""]) => id)
      const moved = yield* act("/admin/rules", "move", { id: other, place: "1" })
      assert.deepStrictEqual([...moved.text.matchAll(/\/admin\/rules\/(\d+)"/g)].map(([, id = ""]) => id), [other, one])
      const german = yield* act(`/admin/rules/${one}`, "translate", { language: "de", translation: "Sei nett" })
      assert.include(german.text, "Sei nett")
      const gone = yield* act(`/admin/rules/${one}`, "untranslate", { language: "de" })
      assert.notInclude(gone.text, ">Sei nett<")
      assert.include((yield* undo(gone)).text, ">Sei nett<")
      const removed = yield* act("/admin/rules", "remove", { id: one })
      assert.notInclude(removed.text, ">Be kind<")
      assert.include((yield* undo(removed)).text, ">Be kind<")
      const refused = yield* browser.press(yield* browser.get("/admin/rules"), "add", { text: "x".repeat(301) })
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "x".repeat(301), "what was written stays")
      assert.includeMembers((yield* auditEntries(BigInt(accountId))).map(({ act }) => act), [
        "rule create",
        "rule update",
        "rule destroy"
      ])
    }))

  it.effect("S-235: the server's texts and its sign-up mode; documents have versions", () =>
    Effect.gen(function*() {
      const { act, browser } = yield* administratorBrowser("editor")
      const about = yield* act("/admin/settings", "about", {
        title: "Our place",
        languages: "en de",
        contact_email: ""
      })
      assert.include(about.text, `value="Our place"`)
      assert.include(about.text, `value="en de"`)
      const closed = yield* act("/admin/settings", "registrations", { registrations: "closed", min_age: "16" })
      assert.include(closed.text, `<option value="closed" selected>`)
      assert.include(closed.text, `value="16"`)
      yield* act("/admin/settings", "registrations", { registrations: "open", min_age: "" })
      for (
        const [name, fields] of [
          ["registrations", { registrations: "sideways" }],
          ["registrations", { registrations: "open", min_age: "999" }],
          ["about", { contact_email: "nowhere" }],
          ["about", { contact_account: "nobody.at.all" }],
          ["timelines", { "liveFeeds.local": "some" }]
        ] as const
      ) {
        const page = yield* browser.press(yield* browser.get("/admin/settings"), name, fields)
        assert.strictEqual(page.status, 422, JSON.stringify(fields))
      }
      const document = { kind: "termsOfService", text: "Be <script>alert(1)</script>good", since: "2031-01-31" }
      const shown = yield* act("/admin/settings/documents", "publish", document)
      assert.include(shown.text, "Effective from 2031-01-31")
      assert.notInclude(shown.text, "<script")
    }))

  it.effect("F380, S-235: a setting that the sent page lacks, because the page is older, stays unchanged", () =>
    Effect.gen(function*() {
      const { act, browser } = yield* administratorBrowser("patient")
      const isOn = (text: string) => text.includes(`name="reason_required" value="yes" checked`)
      const on = yield* act("/admin/settings", "registrations", { registrations: "approval", reason_required: "yes" })
      assert.isTrue(isOn(on.text))
      const page = yield* browser.get("/admin/settings")
      const older = { ...page, text: page.text.replaceAll(/<input[^>]* name="reason_required(?:_shown)?"[^>]*>/g, "") }
      assert.isFalse(older.text.includes("reason_required"))
      yield* browser.press(older, "registrations", { registrations: "open" })
      assert.isTrue(isOn((yield* browser.get("/admin/settings")).text))
    }))

  it.effect(
    "S-235: pictures and colour of the server are set, shown on every page, and reset",
    () =>
      Effect.gen(function*() {
        const path = "/admin/settings/appearance"
        const { accountId, act, browser, undo } = yield* administratorBrowser("painter")
        const { baseUrl, fetch } = yield* TestServer
        const sql = yield* SqlClient.SqlClient
        const token = /name="authenticity_token" value="([^"]*)"/.exec((yield* browser.get(path)).text)?.[1] ?? ""
        const send = (kind: string, bytes: Uint8Array, fields: Record<string, string> = {}) =>
          browser.request(path, {
            method: "POST",
            body: form({ authenticity_token: token, act: "upload", kind, file: blob(bytes), ...fields }),
            headers: { origin: baseUrl }
          })
        const instance = Effect.map(browser.get("/api/v2/instance"), ({ text }) => JSON.parse(text))
        const sizeAt = (url: string) =>
          Effect.flatMap(fetch(url.replace(baseUrl, "")), (response) =>
            Effect.promise(async () => {
              const { format, height, width } = await sharp(new Uint8Array(await response.arrayBuffer())).metadata()
              return [format, width, height, response.headers.get("etag")]
            }))
        const pictures = yield* Effect.promise(async () => ({
          png: await picture(700, 600).png().toBuffer(),
          jpg: await picture(2600, 1400).jpeg().toBuffer(),
          gif: await picture(40, 40).gif().toBuffer(),
          long: await picture(16_001, 1).png().toBuffer()
        }))
        const files = sql`SELECT name FROM stored_files ORDER BY name`
        const none = yield* files
        const own = yield* sizeAt("/favicon.ico")
        const first = yield* instance

        const shown = yield* browser.follow(yield* send("thumbnail", pictures.jpg, { description: "Our <place>" }))
        assert.include(shown.text, "The image was saved.")
        assert.include(shown.text, `alt="Our &lt;place&gt;"`)
        assert.strictEqual((yield* send("appIcon", pictures.png)).status, 302)
        assert.strictEqual((yield* send("favicon", pictures.png)).status, 302)
        const now = yield* instance
        assert.match(now.thumbnail.blurhash, /^\S{36}$/)
        assert.strictEqual(now.thumbnail.description, "Our <place>")
        assert.deepStrictEqual((yield* sizeAt(now.thumbnail.versions["@2x"])).slice(0, 3), ["jpeg", 2400, 1260])
        assert.deepStrictEqual(
          now.icon.map(({ size }: { size: string }) => size),
          first.icon.map(({ size }: { size: string }) => size)
        )
        for (const { size, src } of now.icon as ReadonlyArray<{ readonly size: string; readonly src: string }>) {
          const [format, width, height] = yield* sizeAt(src)
          assert.deepStrictEqual([format, `${width}x${height}`], ["png", size])
          assert.notInclude(first.icon.map((one: { src: string }) => one.src), src)
        }
        assert.deepStrictEqual((yield* sizeAt("/assets/icon-180.png")).slice(0, 3), ["png", 180, 180])
        const tab = yield* sizeAt("/favicon.ico")
        assert.deepStrictEqual(tab.slice(0, 3), ["png", 48, 48])
        assert.notStrictEqual(tab[3], own[3])
        assert.strictEqual((yield* fetch("/favicon.ico", { headers: { "if-none-match": String(tab[3]) } })).status, 304)

        // A replacement removes the files of the picture before; a refused one leaves no files.
        const before = (yield* files).length
        assert.strictEqual((yield* send("favicon", pictures.png)).status, 302)
        assert.strictEqual((yield* files).length, before)
        const storedFiles = yield* files
        const wrong: ReadonlyArray<readonly [kind: string, bytes: Uint8Array, status: number]> = [
          ["banner", pictures.png, 404],
          ["favicon", pictures.gif, 422],
          ["favicon", pictures.long, 422],
          ["favicon", pictures.png.subarray(0, 90), 422],
          ["favicon", new TextEncoder().encode(`<svg xmlns="http://www.w3.org/2000/svg"/>`), 422],
          ["favicon", new Uint8Array(), 422],
          ["favicon", new Uint8Array(8_388_609), 422]
        ]
        for (const [kind, bytes, status] of wrong) assert.strictEqual((yield* send(kind, bytes)).status, status, kind)
        assert.strictEqual((yield* send("thumbnail", pictures.jpg, { description: "x".repeat(201) })).status, 422)
        assert.deepStrictEqual(yield* files, storedFiles)

        const asked = yield* browser.press(yield* browser.get(path), "remove", { kind: "favicon" })
        assert.include(asked.text, "the default is shown instead")
        for (const kind of ["thumbnail", "appIcon", "favicon"]) yield* act(path, "remove", { kind })
        assert.deepStrictEqual(yield* instance, first)
        assert.deepStrictEqual(yield* sizeAt("/favicon.ico"), own)
        assert.deepStrictEqual(yield* files, none)

        const theme = Effect.map(browser.get("/assets/theme.css"), ({ text }) => text)
        assert.strictEqual(yield* theme, "")
        const yellow = yield* act(path, "color", { accent_color: "#ffff00" })
        assert.match(yield* theme, /dark\) \{ :root \{ --accent: #ffff00; --on-accent: #17122b/)
        assert.notMatch(yield* theme, /^:root \{ --accent: #ffff00/)
        assert.notInclude((yield* undo(yellow)).text, "#ffff00")
        assert.strictEqual(yield* theme, "")
        const refused = yield* browser.press(yield* browser.get(path), "color", { accent_color: "red;}" })
        assert.strictEqual(refused.status, 422)
        assert.includeMembers((yield* auditEntries(BigInt(accountId))).map(({ act }) => act), ["settings update"])
      })
  )

  it.effect("storage has budgets by kind, and the dashboard warns if one is exceeded", () =>
    Effect.gen(function*() {
      const path = "/admin/settings/budgets"
      const { act, browser, undo } = yield* administratorBrowser("warehouser")
      const dashboard = Effect.map(browser.get("/admin"), ({ text }) => text)
      assert.notInclude(yield* dashboard, "Storage is over budget")
      const saved = yield* act(path, "save", { database: "1", emoji: "5", cards: "" })
      assert.include(saved.text, "The budgets were saved.")
      assert.match(saved.text, /name="database" value="1"/)
      const warned = yield* dashboard
      assert.include(warned, "Storage is over budget: Database.")
      assert.include(warned, "Over budget")
      assert.match(warned, /0% of 5 MB/)
      for (const database of ["-1", "1.5", "x", "9".repeat(10), "1e3"]) {
        const refused = yield* browser.press(yield* browser.get(path), "save", { database })
        assert.strictEqual(refused.status, 422, database)
        assert.match(refused.text, /Storage budget is invalid/)
      }
      const before = yield* undo(saved)
      assert.match(before.text, /name="database" value=""/)
      assert.notInclude(yield* dashboard, "Storage is over budget")
    }))

  it.effect("S-017: an invite is created, is shown once as an address, and is ended", () =>
    Effect.gen(function*() {
      const { act } = yield* administratorBrowser("host")
      const created = yield* act("/admin/invites", "create", { max_uses: "5", expires_in: "3600" })
      const code = /\/invite\/(\w{8})/.exec(created.text)?.[1]
      assert.isDefined(code)
      assert.include(created.text, "0 of 5")
      const id = /name="id" value="(\d+)"/.exec(created.text)?.[1] ?? ""
      assert.include((yield* act("/admin/invites", "end", { id })).text, "The invite was revoked.")
    }))

  it.effect("S-255: a role is created with permissions that its creator has, changed and removed", () =>
    Effect.gen(function*() {
      const { act } = yield* administratorBrowser("maker")
      const created = yield* act("/admin/roles/new", "save", {
        name: "Helper",
        position: "5",
        collection_limit: "10",
        "permissions[]": "manageReports",
        require_2fa: "yes"
      })
      assert.include(created.text, "The role was created.")
      assert.match(created.text, /value="manageReports" checked/)
      assert.match(created.text, /name="require_2fa" value="yes" checked/)
      const lower = yield* staffMember("under", ["manageRoles"], 20)
      const browser = yield* staffBrowser(lower)
      const page = yield* browser.get("/admin/roles/new")
      assert.notInclude(page.text, `value="manageReports"`)
      const given = yield* browser.press(page, "save", {
        name: "x",
        position: "1",
        collection_limit: "10",
        "permissions[]": "manageReports"
      })
      const own = yield* browser.follow(given)
      assert.notInclude(own.text, `value="manageReports" checked`, "nobody gives what they lack")
      const high = yield* browser.press(page, "save", { name: "y", position: "20", collection_limit: "10" })
      assert.strictEqual(high.status, 422)
    }))

  it.effect("S-235: an announcement is drafted, published, unpublished and removed", () =>
    Effect.gen(function*() {
      const { act } = yield* administratorBrowser("herald")
      const draft = yield* act("/admin/announcements", "draft", { text: "Hear ye", scheduled_at: "" })
      assert.include(draft.text, "Draft")
      const path = `/admin/announcements/${/\/admin\/announcements\/(\d+)/.exec(draft.text)?.[1] ?? ""}`
      assert.include((yield* act(path, "publish")).text, "Published")
      assert.include((yield* act(path, "unpublish")).text, "Draft")
      assert.include((yield* act(path, "remove")).text, "The announcement was removed.")
    }))
})
